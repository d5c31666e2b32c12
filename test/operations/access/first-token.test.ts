import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { unlistedToken } from '../../../operations/access/first-token.ts'
import { makeKeys, readKeys, signingKey } from '../../../operations/access/keys.ts'
import { signToken } from '../../../operations/access/tokens.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

let folder = ''
beforeEach(async () => void (folder = temporaryFolder()))

async function signed() {
  await makeKeys(join(folder, 'keys'))
  const wanted = { name: 'first-admin', level: 'admin', expiresAt: Date.now() + 60_000 } as const
  return signToken(signingKey(await readKeys(join(folder, 'keys'))), 'default', wanted)
}

test('the claims of the first token are kept until it is listed, readable by the owner alone', async () => {
  const { principal } = await signed()
  expect(await unlistedToken(folder).read()).toBeUndefined()
  await unlistedToken(folder).keep(principal)
  expect(await unlistedToken(folder).read()).toEqual(principal)
  expect((await stat(join(folder, 'first-token.json'))).mode & 0o777).toBe(0o600)
  for (const _ of ['once', 'twice']) await unlistedToken(folder).forget()
  expect(await unlistedToken(folder).read()).toBeUndefined()
})

test('an expired first token, and a malformed file, are removed', async () => {
  const { principal } = await signed()
  await unlistedToken(folder).keep(principal)
  expect(await unlistedToken(folder, () => principal.expiresAt).read()).toBeUndefined()
  await writeFile(join(folder, 'first-token.json'), JSON.stringify({ ...principal, jti: '__proto__' }))
  expect(await unlistedToken(folder).read()).toBeUndefined()
  expect(await readdir(folder)).toEqual(['keys'])
})
