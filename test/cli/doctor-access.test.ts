import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { keyFile, makeKeys, rotateKeys } from '../../operations/access/keys.ts'
import { checkAccess } from '../../cli/doctor/access.ts'
import { configSchema } from '../../config/schema/schema.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { temporaryFolder } from '../helpers/folders.ts'

let dataFolder = ''
let file = ''
beforeEach(async () => {
  dataFolder = temporaryFolder()
  file = keyFile({ dataFolder })
})

async function check(access: object = {}) {
  const config = configSchema.parse({ chains: {}, bridges: {}, dataFolder, access })
  const checks = await checkAccess(config, { address: `127.0.0.1:${await freePort()}`, namespace: 'n' })
  expect(checks).toHaveLength(1)
  return checks[0]!
}

async function agesOf(...days: number[]): Promise<void> {
  const { keys } = JSON.parse(await readFile(file, 'utf8')) as { keys: object[] }
  const old = keys.map((key, index) => ({ ...key, createdAt: new Date(Date.now() - days[index]! * 86_400_000).toISOString() }))
  await writeFile(file, JSON.stringify({ keys: old }))
}

describe('the doctor checks the key file of access tokens', () => {
  test('a missing key file is a warning, unless the config has public keys', async () => {
    expect(await check()).toMatchObject({ status: 'warn', remedy: expect.stringContaining('access.publicKeys') })
    expect(await check({ publicKeys: ['A'.repeat(43)] })).toMatchObject({ status: 'ok' })
  })

  test('old keys, and keys whose tokens have all expired, are warnings', async () => {
    await makeKeys(file)
    expect(await check()).toMatchObject({ status: 'ok', detail: expect.stringContaining('0 days old; 0 older keys') })
    await agesOf(400)
    expect(await check()).toMatchObject({ status: 'warn', remedy: expect.stringContaining('rotate-key') })
    await rotateKeys(file)
    expect(await check()).toMatchObject({ status: 'ok', detail: expect.stringContaining('1 older keys') })
    await agesOf(800, 367)
    expect(await check()).toMatchObject({ status: 'warn', remedy: expect.stringMatching(/^portage token remove-key [\w-]{43}$/) })
  })

  test.skipIf(process.platform === 'win32')('a key file that others may read fails', async () => {
    await makeKeys(file)
    await chmod(file, 0o644)
    expect(await check()).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('chmod 600'),
      remedy: expect.stringMatching(/./),
    })
  })

  test.each([
    ['nothing', ''],
    ['no keys', '{"keys":[]}'],
    ['a key that is none', '{"keys":[{"kty":"OKP","d":"secret-of-somebody"}]}'],
  ])('a key file that holds %s fails, and is not quoted', async (_, text) => {
    await writeFile(file, text, { mode: 0o600 })
    const found = await check()
    expect(found).toMatchObject({ status: 'fail', detail: expect.stringContaining('not a key file') })
    expect(JSON.stringify(found)).not.toContain('secret-of-somebody')
  })

  test('an unreadable key file fails', async () => {
    await mkdir(file, { mode: 0o700 })
    expect(await check()).toMatchObject({ status: 'fail', detail: expect.stringContaining('cannot be read') })
  })
})
