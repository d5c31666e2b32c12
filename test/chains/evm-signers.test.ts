import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encryptKeystoreJson, hexlify, keccak256, recoverAddress, Transaction, Wallet } from 'ethers'
import { beforeAll, describe, expect, test } from 'vitest'
import { curveOrder, toBigint, toWord } from '../../chains/crypto/curve.ts'
import { secp256k1 } from '../../chains/crypto/secp256k1.ts'
import { createMessageSigner, createSigner } from '../../chains/evm/index.ts'
import { type Key, signatureBy } from '../../chains/evm/signers/verified.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const variable = 'PORTAGE_TEST_SIGNER'
const password = 'correct horse battery'
const { address, privateKey } = devnetAccount(3)
const unsigned = { networkId: '1337', nonce: 5, to: address, data: '0xabcd', value: '7', gasLimit: '50000', maxFee: '30', tip: '2' }

describe('signers', () => {
  const folder = temporaryFolder()
  let file: string

  beforeAll(async () => {
    file = join(folder, 'key.json')
    // A weak key derivation of the same format makes the test faster.
    await writeFile(file, await encryptKeystoreJson(new Wallet(privateKey), password, { scrypt: { N: 1024, r: 8, p: 1 } }))
    await writeFile(join(folder, 'password'), `${password}\nanother line\n`)
    await writeFile(join(folder, 'windows'), `${password}\r\nanother line\r\n`)
    await writeFile(join(folder, 'wrong'), 'a wrong one')
    await writeFile(join(folder, 'damaged.json'), '{"version": 3}')
    await writeFile(join(folder, 'other.json'), '{"version": 4}')
  })

  test('a keystore, with its password from a file or a variable, signs as its key does', async () => {
    process.env[variable] = password
    const byFile = await createSigner({ kind: 'keystore', file, passwordFile: join(folder, 'password') }, address)
    const byWindows = await createSigner({ kind: 'keystore', file, passwordFile: join(folder, 'windows') }, address)
    const byVariable = await createSigner({ kind: 'keystore', file, passwordVariable: variable }, address.toUpperCase().replace('0X', '0x'))
    process.env[variable] = privateKey
    const byKey = await createSigner({ kind: 'environment', variable })
    const signed = await Promise.all([byFile, byWindows, byVariable, byKey].map((signer) => signer.sign(unsigned)))
    expect(new Set(signed.map(({ raw }) => raw)).size).toBe(1)
    expect(byFile.address).toBe(address)
    const read = Transaction.from(signed[0]?.raw)
    expect(read).toMatchObject({
      type: 2,
      chainId: 1337n,
      nonce: 5,
      data: '0xabcd',
      value: 7n,
      gasLimit: 50_000n,
      maxFeePerGas: 30n,
      maxPriorityFeePerGas: 2n,
    })
    expect(read.from?.toLowerCase()).toBe(address)
    expect(signed[0]?.hash).toBe(read.hash)
  })

  test('a key signs a message by its keccak256, as ecrecover reads it, and only for its own address', async () => {
    process.env[variable] = privateKey
    const sign = await createMessageSigner({ kind: 'environment', variable }, address)
    const message = Buffer.from('EQ01 and more')
    const signature = await sign(message)
    expect([signature.length, recoverAddress(keccak256(message), hexlify(signature)).toLowerCase()]).toEqual([65, address])
    const foreign = createMessageSigner({ kind: 'environment', variable }, devnetAccount(4).address)
    await expect(foreign).rejects.toMatchObject({ code: 'SIGNER_UNAVAILABLE' })
  })

  test.each([privateKey, privateKey.slice(2), ` ${privateKey}\n`])(
    'a private key is accepted with or without 0x, and spaces',
    async (text) => {
      process.env[variable] = text
      expect((await createSigner({ kind: 'environment', variable })).address).toBe(address)
    },
  )

  test.each([
    [
      'a missing file',
      () => ({ kind: 'keystore' as const, file: join(folder, 'none'), passwordVariable: variable }),
      `The file can't be read (ENOENT). (file=${join(folder, 'none')})`,
    ],
    [
      'a missing password file',
      () => ({ kind: 'keystore' as const, file, passwordFile: join(folder, 'none') }),
      `The file can't be read (ENOENT). (file=${join(folder, 'none')})`,
    ],
    [
      'no keystore',
      () => ({ kind: 'keystore' as const, file: join(folder, 'other.json'), passwordVariable: variable }),
      `The file is not an encrypted keystore of version 3. (file=${join(folder, 'other.json')})`,
    ],
    [
      'a damaged one',
      () => ({ kind: 'keystore' as const, file: join(folder, 'damaged.json'), passwordVariable: variable }),
      `The password does not open this keystore, or the file is damaged. (file=${join(folder, 'damaged.json')})`,
    ],
    [
      'no password named',
      () => ({ kind: 'keystore' as const, file }),
      `No password is configured: set passwordFile or passwordVariable. (file=${join(folder, 'key.json')})`,
    ],
    [
      'an unset variable',
      () => ({ kind: 'keystore' as const, file, passwordVariable: 'PORTAGE_TEST_UNSET' }),
      `The environment variable PORTAGE_TEST_UNSET is not set. (file=${join(folder, 'key.json')})`,
    ],
    [
      'a wrong password',
      () => ({ kind: 'keystore' as const, file, passwordFile: join(folder, 'wrong') }),
      `The password does not open this keystore, or the file is damaged. (file=${join(folder, 'key.json')})`,
    ],
    [
      'no key variable',
      () => ({ kind: 'environment' as const, variable: 'PORTAGE_TEST_UNSET' }),
      'The environment variable is not set. (variable=PORTAGE_TEST_UNSET)',
    ],
  ])('%s is SIGNER_UNAVAILABLE, which says so and names the file or the variable', async (_, spec, about) => {
    process.env[variable] = password
    const error = await createSigner(spec()).then(
      () => undefined,
      (reason: Error) => reason,
    )
    expect(error).toMatchObject({ code: 'SIGNER_UNAVAILABLE', about })
    expect(`${error?.stack} ${JSON.stringify(error)}`).not.toMatch(/correct horse|a wrong one/)
  })

  test('an error about an invalid key variable does not quote it', async () => {
    process.env[variable] = 'not-a-key-but-secret'
    const error = await createSigner({ kind: 'environment', variable }).then(
      () => undefined,
      (reason: Error) => reason,
    )
    const about = `The environment variable holds no private key. (variable=${variable})`
    expect(error).toMatchObject({ code: 'SIGNER_UNAVAILABLE', about })
    expect(`${error?.stack} ${JSON.stringify(error)} ${String(error?.cause)}`).not.toContain('not-a-key-but-secret')
  })

  test("another address than the lane's is refused", async () => {
    process.env[variable] = privateKey
    const work = createSigner({ kind: 'environment', variable }, devnetAccount(4).address)
    await expect(work).rejects.toMatchObject({
      ...{ code: 'SIGNER_UNAVAILABLE', about: expect.stringContaining("The key's address is not the one in the config.") },
      facts: { expected: devnetAccount(4).address, actual: address },
    })
  })

  test.each([
    ['the tip', { maxFee: '1', tip: '2' }, 'The tip is above the fee.'],
    ['the recipient', { to: '0xsecret' }, 'The recipient is not an address.'],
    // BigInt quotes its input in a SyntaxError.
    ['the value', { value: 'secret' }, 'a field is not what it should be'],
  ])('a failure to sign is SIGNER_UNAVAILABLE, without the input: %s', async (_, fields, reason) => {
    process.env[variable] = privateKey
    const signer = await createSigner({ kind: 'environment', variable })
    await expect(signer.sign({ ...unsigned, ...fields })).rejects.toMatchObject({
      code: 'SIGNER_UNAVAILABLE',
      about: `The transaction could not be signed: ${reason} (address=${address} nonce=5)`,
      facts: { nonce: 5 },
    })
  })
})

describe('signatures of a key that may lie', () => {
  const digest = Buffer.from('7'.repeat(64), 'hex')
  const half = curveOrder / 2n
  const signing = (answer: Awaited<ReturnType<Key['sign']>>, own = address) =>
    signatureBy({ address: own, sign: () => Promise.resolve(answer) }, { unsigned: '0x', digest, nonce: 5 })
  const numbers = () => {
    const { compact } = secp256k1().sign(digest, Buffer.from(privateKey.slice(2), 'hex'))
    return { r: toBigint(compact.subarray(0, 32)), s: toBigint(compact.subarray(32)) }
  }
  const wrong = {
    code: 'SIGNER_OFFLINE',
    about: `Its signature does not recover to the address of the key. (address=${address} nonce=5)`,
  }

  test('a whole signature of another key is refused', async () => {
    const sign = (account: { privateKey: string }) => secp256k1().sign(digest, Buffer.from(account.privateKey.slice(2), 'hex'))
    expect(await signing(sign({ privateKey }))).toEqual(sign({ privateKey }))
    await expect(signing(sign(devnetAccount(4)))).rejects.toMatchObject(wrong)
  })

  test('numbers outside 1 to the order of the curve are refused', async () => {
    const { r, s } = numbers()
    for (const one of [0n, -1n, -r, curveOrder, curveOrder + 1n, r << 4n, 1n << 300n])
      await expect(signing({ r: one, s })).rejects.toMatchObject(wrong)
    for (const one of [0n, -1n, -s, curveOrder, curveOrder + s, s << 4n, 1n << 300n])
      await expect(signing({ r, s: one })).rejects.toMatchObject(wrong)
  })

  // Each pair of numbers is a signature of some key if r is the x of a point of the curve, as 1 is.
  test.each([1n, half - 1n, half, half + 1n, curveOrder - 1n])('of s = %i, the lower of the two equivalent forms is used', async (s) => {
    const own = secp256k1().recover(digest, Buffer.concat([toWord(1n), toWord(s)]), 0)!
    const { compact } = await signing({ r: 1n, s }, own)
    expect([toBigint(compact.subarray(0, 32)), toBigint(compact.subarray(32))]).toEqual([1n, s > half ? curveOrder - s : s])
  })
})
