import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findHelm } from '../../scripts/helm/find.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const folder = temporaryFolder()

async function helmOf(place: string, version: string, name = 'helm'): Promise<string> {
  const at = join(folder, place)
  await mkdir(at, { recursive: true })
  await writeFile(join(at, name), `#!/bin/sh\necho '${version}'\n`, { mode: 0o755 })
  return at
}

test('a Helm on PATH is used only if its version is known: otherwise an earlier build is used', async () => {
  const old = await helmOf('old', 'v3.12.3+g3a31588')
  const four = await helmOf('four', 'v4.0.1+g12500dd')
  const known = await helmOf('known', 'v3.18.6+gb76a950')
  const env = { XDG_CACHE_HOME: join(folder, 'cache'), PATH: `${old}:${four}:${known}` }
  expect(await findHelm(env)).toEqual({ helm: join(known, 'helm') })
  const cached = join(await helmOf('cache/portage/bin', 'v3.22', 'helm-3.22.0'), 'helm-3.22.0')
  expect(await findHelm({ ...env, PATH: `${old}:${four}` })).toEqual({ helm: cached })
  expect(await findHelm({ ...env, HELM: join(old, 'helm') })).toEqual({ helm: join(old, 'helm') })
})

test('without Helm and without Go, the reason says so', async () => {
  const env = { XDG_CACHE_HOME: join(folder, 'empty'), PATH: join(folder, 'nowhere') }
  expect(await findHelm(env)).toEqual({ why: 'go install: Go is not installed' })
})
