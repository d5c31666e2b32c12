import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encryptKeystoreJson, hexlify, keccak256, recoverAddress, Transaction, Wallet } from 'ethers'
import { beforeAll, describe, expect, test } from 'vitest'
import { createMessageSigner, createSigner } from '../../chains/evm/index.ts'
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
    await writeFile(join(folder, 'wrong'), 'a wrong one')
    await writeFile(join(folder, 'damaged.json'), '{"version": 3}')
    await writeFile(join(folder, 'other.json'), '{"version": 4}')
  })

  test('a keystore, with its password from a file or a variable, signs as its key does', async () => {
    process.env[variable] = password
    const byFile = await createSigner({ kind: 'keystore', file, passwordFile: join(folder, 'password') }, address)
    const byVariable = await createSigner({ kind: 'keystore', file, passwordVariable: variable }, address.toUpperCase().replace('0X', '0x'))
    process.env[variable] = privateKey
    const byKey = await createSigner({ kind: 'environment', variable })
    const signed = await Promise.all([byFile, byVariable, byKey].map((signer) => signer.sign(unsigned)))
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

  test('a private key without 0x is accepted', async () => {
    process.env[variable] = privateKey.slice(2)
    expect((await createSigner({ kind: 'environment', variable })).address).toBe(address)
  })

  test.each([
    [
      'a missing file',
      () => ({ kind: 'keystore' as const, file: join(folder, 'none'), passwordVariable: variable }),
      "can't be read (ENOENT)",
    ],
    [
      'no keystore',
      () => ({ kind: 'keystore' as const, file: join(folder, 'other.json'), passwordVariable: variable }),
      'not an encrypted keystore',
    ],
    [
      'a damaged one',
      () => ({ kind: 'keystore' as const, file: join(folder, 'damaged.json'), passwordVariable: variable }),
      'does not open',
    ],
    ['no password named', () => ({ kind: 'keystore' as const, file }), 'set passwordFile or passwordVariable'],
    [
      'an unset variable',
      () => ({ kind: 'keystore' as const, file, passwordVariable: 'PORTAGE_TEST_UNSET' }),
      'PORTAGE_TEST_UNSET is not set',
    ],
    ['a wrong password', () => ({ kind: 'keystore' as const, file, passwordFile: join(folder, 'wrong') }), 'does not open'],
    ['no key variable', () => ({ kind: 'environment' as const, variable: 'PORTAGE_TEST_UNSET' }), 'not set'],
  ])('%s is SIGNER_UNAVAILABLE and says so', async (_, spec, text) => {
    process.env[variable] = password
    const error = await createSigner(spec()).then(
      () => undefined,
      (reason: Error) => reason,
    )
    expect(error).toMatchObject({ code: 'SIGNER_UNAVAILABLE', message: expect.stringContaining(text) })
    expect(`${error?.stack} ${JSON.stringify(error)}`).not.toMatch(/correct horse|a wrong one/)
  })

  test('an error about an invalid key variable does not quote it', async () => {
    process.env[variable] = 'not-a-key-but-secret'
    const error = await createSigner({ kind: 'environment', variable }).then(
      () => undefined,
      (reason: Error) => reason,
    )
    expect(error).toMatchObject({ code: 'SIGNER_UNAVAILABLE' })
    expect(`${error?.stack} ${JSON.stringify(error)} ${String(error?.cause)}`).not.toContain('not-a-key-but-secret')
  })

  test("another address than the lane's is refused", async () => {
    process.env[variable] = privateKey
    const work = createSigner({ kind: 'environment', variable }, devnetAccount(4).address)
    await expect(work).rejects.toMatchObject({ code: 'SIGNER_UNAVAILABLE', facts: { expected: devnetAccount(4).address, actual: address } })
  })

  test('a failure to sign is SIGNER_UNAVAILABLE, without the input', async () => {
    process.env[variable] = privateKey
    const signer = await createSigner({ kind: 'environment', variable })
    await expect(signer.sign({ ...unsigned, maxFee: '1', tip: '2' })).rejects.toMatchObject({
      code: 'SIGNER_UNAVAILABLE',
      facts: { nonce: 5 },
    })
  })
})
