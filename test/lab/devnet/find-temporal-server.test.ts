import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { run } from '../../../lab/devnet/run.ts'
import { findTemporalServer, knownTemporalServer } from '../../../lab/devnet/temporal/find-temporal-server.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

const program = fileURLToPath(new URL('../../../lab/devnet/temporal/find-temporal-server.ts', import.meta.url))

const dir = temporaryFolder()

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
