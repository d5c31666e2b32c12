import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../../../lab/devnet/run.ts'
import { findTemporalServer, knownTemporalServer } from '../../../lab/devnet/temporal/find-temporal-server.ts'

const program = fileURLToPath(new URL('../../../lab/devnet/temporal/find-temporal-server.ts', import.meta.url))

let dir = ''
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portage-find-'))
})
afterAll(() => rm(dir, { recursive: true }))

test('without Go the set-up goes on, and names the tests that do not run', async () => {
  const { code, stderr } = await run(process.execPath, ['--import', 'tsx', program], { env: { PATH: dir, XDG_CACHE_HOME: dir } })
  expect(code).toBe(0)
  expect(stderr).toContain('No Temporal server: go install: Go is not installed')
  expect(stderr).toMatch(/^NOT RUN: .*test\/e2e\/temporal-access\.test\.ts/m)
})

test('TEMPORAL_SERVER goes before what was built, and is never replaced by it', async () => {
  const own = join(dir, 'own')
  expect(knownTemporalServer({ XDG_CACHE_HOME: dir, TEMPORAL_SERVER: own })).toBeUndefined()
  await expect(findTemporalServer({ env: { XDG_CACHE_HOME: dir, TEMPORAL_SERVER: own } })).rejects.toMatchObject({
    code: 'SETUP_INCOMPLETE',
  })
  await writeFile(own, '')
  expect(await findTemporalServer({ env: { XDG_CACHE_HOME: dir, TEMPORAL_SERVER: own } })).toBe(own)
})
