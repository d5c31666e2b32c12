import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import {
  type AccessKey,
  createKeyRing,
  fromConfig,
  keyFile,
  makeKeys,
  readKeys,
  removeKey,
  rotateKeys,
  signingKey,
} from '../../../operations/access/keys.ts'
import { signToken, verifyToken } from '../../../operations/access/tokens.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

let dataFolder = ''
let file = ''
beforeEach(async () => {
  dataFolder = temporaryFolder()
  file = keyFile({ dataFolder })
})

const wanted = () => ({ name: 'alice', level: 'sign', expiresAt: Date.now() + 60_000 }) as const
const signed = async () => (await signToken(signingKey(await readKeys(file)), 'default', wanted())).token

test('concurrent processes create the key file once, readable by the owner alone', async () => {
  const made = await Promise.all(Array.from({ length: 5 }, () => makeKeys(file)))
  expect(made.toSorted((a, b) => Number(a) - Number(b))).toEqual([false, false, false, false, true])
  expect(await makeKeys(file)).toBe(false)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readdir(dataFolder)).toEqual(['access-keys.json'])
})

test('a key file that others can read, or that is malformed, is refused and not quoted', async () => {
  await makeKeys(file)
  await chmod(file, 0o640)
  await expect(readKeys(file)).rejects.toMatchObject({ code: 'ACCESS_KEYS', message: expect.stringContaining('chmod 600') })
  await writeFile(file, '{"keys":[{"d":"a secret"}]}')
  await chmod(file, 0o600)
  const refused = await readKeys(file).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'ACCESS_KEYS', cause: undefined })
  expect(String(refused)).not.toContain('a secret')
})

test.each([
  ['it is a folder', () => mkdir(file, { mode: 0o700 }), 'It cannot be read.'],
  ['it has no keys', () => writeFile(file, '{"keys":[]}', { mode: 0o600 }), 'It is not a key file of Portage.'],
  ['others can read it', () => writeFile(file, '{"keys":[]}', { mode: 0o644 }), 'Other users can read or write it: chmod 600.'],
])('a key file is neither used nor replaced if %s, and the refusal names it', async (_, make, detail) => {
  await make()
  const about = `${detail} (file=${file})`
  for (const use of [readKeys, makeKeys, rotateKeys]) await expect(use(file)).rejects.toMatchObject({ code: 'ACCESS_KEYS', about })
})

test('a key file that is missing or cannot be written is named in the refusal', async () => {
  for (const use of [rotateKeys, (path: string) => removeKey(path, 'k')])
    await expect(use(file)).rejects.toMatchObject({
      code: 'ACCESS_KEYS',
      about: `There is no key file on this machine. (file=${file})`,
    })
  const nowhere = join(dataFolder, 'none', 'keys')
  await expect(makeKeys(nowhere)).rejects.toMatchObject({
    code: 'ACCESS_KEYS',
    about: `The key file cannot be written. (file=${nowhere})`,
    cause: { code: 'ENOENT' },
  })
})

test('on Windows, which has neither owners nor modes, any key file is read', async () => {
  await makeKeys(file)
  await chmod(file, 0o666)
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(undefined as unknown as number)
  const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('win32')
  try {
    if (process.getuid && (await stat(file)).uid === 0) await chown(file, 12_345, 12_345)
    expect(await readKeys(file)).toHaveLength(1)
  } finally {
    getuid.mockRestore()
    platform.mockRestore()
  }
})

test.runIf(process.getuid)('a file of another user is refused; one of root is good', async () => {
  await makeKeys(file)
  const self = process.getuid!()
  // Only root can change the owner of a file.
  if (self === 0) await chown(file, 12_345, 12_345)
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(self === 0 ? 0 : self + 1)
  try {
    await expect(readKeys(file)).rejects.toMatchObject({ code: 'ACCESS_KEYS', message: expect.stringContaining('another user') })
    if (self !== 0) return
    getuid.mockReturnValue(12_345)
    expect(await readKeys(file)).toHaveLength(1)
    await chown(file, 0, 0)
    expect(await readKeys(file)).toHaveLength(1)
  } finally {
    getuid.mockRestore()
  }
})

test('after a rotation the new key signs and the old one verifies, until it is removed', async () => {
  await makeKeys(file)
  let now = 0
  const ring = createKeyRing({ dataFolder, publicKeys: [] }, () => (now += 2_000))
  const old = await signed()
  const kid = await rotateKeys(file)
  const young = await signed()
  expect(await verifyToken(await ring.keys(), 'default', young)).toMatchObject({ kid, name: 'alice' })
  const before = await verifyToken(await ring.keys(), 'default', old)
  expect(before.kid).not.toBe(kid)
  await expect(removeKey(file, kid)).rejects.toMatchObject({ code: 'ACCESS_KEYS', message: expect.stringContaining('This key signs') })
  await expect(removeKey(file, 'x')).rejects.toMatchObject({ code: 'ACCESS_KEYS', about: 'It has no key with this kid. (kid=x)' })
  // The file has lost the private part of the old key.
  expect((await readFile(file, 'utf8')).match(/"d"/g)).toHaveLength(1)
  await removeKey(file, before.kid)
  await expect(verifyToken(await ring.keys(), 'default', old)).rejects.toMatchObject({ code: 'ACCESS_TOKEN_INVALID' })
  expect(await verifyToken(await ring.keys(), 'default', young)).toMatchObject({ kid })
})

test('another machine verifies with the public key in its config and cannot sign', async () => {
  await makeKeys(file)
  const [key] = (await readKeys(file)) ?? []
  const elsewhere = createKeyRing({ dataFolder: join(dataFolder, 'none'), publicKeys: [key?.x ?? ''] })
  expect(await verifyToken(await elsewhere.keys(), 'default', await signed())).toMatchObject({ name: 'alice', kid: key?.kid })
  expect((await fromConfig([key?.x ?? '']))[0]?.kid).toBe(key?.kid)
  for (const none of [[], undefined, [{ ...key!, d: undefined }]]) expect(() => signingKey(none)).toThrow('no key to sign with')
})

test('the newest key with a private part signs', async () => {
  await makeKeys(file)
  await rotateKeys(file)
  const [old, young] = (await readKeys(file)) as [AccessKey, AccessKey]
  expect(signingKey([{ ...old, d: young.d }, young])).toBe(young)
  expect(signingKey([young, old])).toBe(young)
})

test('a key ring has the keys of the config, and reads a changed key file within a second', async () => {
  let now = 10_000
  const publicKeys = ['A'.repeat(43)]
  const ring = createKeyRing({ dataFolder, publicKeys }, () => now)
  const ofConfig = await fromConfig(publicKeys)
  expect(await ring.keys()).toEqual(ofConfig)
  await makeKeys(file)
  now += 999
  expect(await ring.keys()).toEqual(ofConfig)
  now += 1
  const both = await ring.keys()
  expect(both.map(({ kid }) => kid)).toEqual([ofConfig[0]!.kid, signingKey(await readKeys(file)).kid])
  // The ring that checks tokens does not keep secrets in memory.
  expect(both.filter((key) => 'd' in key)).toEqual([])
  now += 1_000
  expect(await ring.keys()).toBe(both)
})

test('a key ring forgets a removed key within a second, although the clock was set back', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6 * 3_600_000 })
  onTestFinished(() => void vi.useRealTimers())
  await makeKeys(file)
  const ring = createKeyRing({ dataFolder, publicKeys: [] })
  const [stolen] = await ring.keys()
  vi.setSystemTime(Date.now() - 6 * 3_600_000)
  await rotateKeys(file)
  await removeKey(file, stolen!.kid)
  await expect.poll(async () => (await ring.keys()).map(({ kid }) => kid), { timeout: 30_000 }).not.toContain(stolen!.kid)
})

test('no key has a name that a command line would read as an option', async () => {
  // A random name begins with `-` in 1 of 64 cases.
  const kids: string[] = []
  for (let made = 0; made < 400; made++) {
    await rm(file, { force: true })
    await makeKeys(file)
    kids.push(signingKey(await readKeys(file)).kid)
  }
  expect(kids.filter((kid) => kid.startsWith('-'))).toEqual([])
})
