import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { look, remedyOf } from '../../cli/doctor/check.ts'
import { errorCatalogue, type ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import { runCli } from './run-cli.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const codes = Object.keys(errorCatalogue) as ErrorCode[]
const ofDoctor = codes.filter((code) => errorCatalogue[code].remedy.includes('portage doctor'))

test('no remedy of the doctor leads back to the doctor', async () => {
  expect(ofDoctor.length).toBeGreaterThan(0)
  for (const code of codes) {
    const check = await look('area', 'name', () => Promise.reject(new RelayerError(code, { detail: 'as it was found' })))
    expect([code, check.remedy]).not.toEqual([code, expect.stringContaining('doctor')])
    expect(check).toMatchObject({ status: 'fail', detail: expect.stringContaining('as it was found'), remedy: expect.stringMatching(/\w/) })
    // An arrow would show that the detail repeats the catalogue's remedy.
    expect(check.detail).not.toContain('→')
  }
})

test('every other code keeps the remedy of the catalogue', () => {
  for (const code of codes.filter((one) => !ofDoctor.includes(one)))
    expect(remedyOf(new RelayerError(code))).toBe(errorCatalogue[code].remedy)
})

test('doctor prints the remedy of an error once, even if the remedy looks like a secret', async () => {
  const dir = temporaryFolder()
  await runCli(['init', '--chain', 'bsc'], { cwd: dir })
  const file = join(dir, 'portage.yaml')
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll("'0x…'", `'0x${'1'.repeat(40)}'`))
  const { err, code } = await runCli(['lane', 'pause', `0x${'1'.repeat(40)}`, '--reason', 'none'], {
    cwd: dir,
    env: { BSC_RPC_URL: 'http://127.0.0.1:1' },
  })
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^ACCESS_TOKEN_MISSING: An access token is required\.\n→ Over HTTP send `Authorization: Bearer <token>`;/),
  ])
})
