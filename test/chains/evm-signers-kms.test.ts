import fc from 'fast-check'
import { hexlify, keccak256, recoverAddress, type Signature, Transaction } from 'ethers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readDerSignature } from '../../chains/evm/signers/verified.ts'
import { createMessageSigner, createSigner } from '../../chains/evm/index.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { signWithRandom, toDer } from '../../lab/devnet/signing/ecdsa.ts'
import { type Kms, kmsEnvironment, kmsKeyId, startKms } from '../../lab/devnet/signing/kms.ts'

const [mine, other] = [devnetAccount(3), devnetAccount(4)]
const unsigned = { networkId: '1337', nonce: 5, to: other.address, data: '0xabcd', value: '7', gasLimit: '50000', maxFee: '30', tip: '2' }
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

describe('a key in AWS KMS', () => {
  let kms: Kms

  beforeAll(async () => {
    Object.assign(process.env, kmsEnvironment)
    kms = await startKms([mine, other])
  })
  beforeEach(() => {
    kms.mode = 'well'
    kms.faults.alter = kms.faults.exception = undefined
  })
  afterAll(() => kms.stop())

  const open = (keyId = kmsKeyId(mine), address = mine.address) =>
    createSigner({ kind: 'aws-kms', keyId, endpoint: kms.url, region: 'us-east-1' }, address)
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (reason: Error) => reason,
    )

  test('a KMS key signs the same content with a different hash each time', async () => {
    const signer = await open()
    const signed = await Promise.all(Array.from({ length: 12 }, () => signer.sign(unsigned)))
    expect(new Set(signed.map(({ hash }) => hash)).size).toBe(12)
    expect(new Set(signed.map(({ signingHash }) => signingHash)).size).toBe(1)
    for (const { raw, hash } of signed) {
      const read = Transaction.from(raw)
      expect(read).toMatchObject({ type: 2, chainId: 1337n, nonce: 5, data: '0xabcd', value: 7n, hash })
      expect(read.from?.toLowerCase()).toBe(mine.address)
    }
  })

  test('a KMS key signs a message', async () => {
    const spec = { kind: 'aws-kms' as const, keyId: kmsKeyId(mine), endpoint: kms.url, region: 'us-east-1' }
    const message = Buffer.from('EQ01 and more')
    const signature = await (await createMessageSigner(spec, mine.address))(message)
    expect(recoverAddress(keccak256(message), hexlify(signature)).toLowerCase()).toBe(mine.address)
  })

  test('a KMS key is found by an alias too', async () => {
    expect((await open(`alias/${kmsKeyId(mine)}`)).address).toBe(mine.address)
  })

  test.each(['lower', 'upper'])('s in the %s half comes out in the lower one', async (half) => {
    const signer = await open()
    kms.faults.alter = ({ r, s }) => ({ r, s: s > order / 2n === (half === 'upper') ? s : order - s })
    const { signature } = Transaction.from((await signer.sign(unsigned)).raw)
    expect(BigInt((signature as Signature).s)).toBeLessThanOrEqual(order / 2n)
  })

  test.each([
    ['no signature', () => Buffer.from('not DER')],
    ['bytes after it', (numbers: { r: bigint; s: bigint }) => Buffer.concat([toDer(numbers), Buffer.from([0])])],
    ['a signature of something else', () => signWithRandom(new Uint8Array(32).fill(7), mine.privateKey)],
    [
      'a signature of another key',
      () => signWithRandom(Buffer.from(Transaction.from({ chainId: 1 }).unsignedHash.slice(2), 'hex'), other.privateKey),
    ],
  ])('%s is caught', async (_, alter) => {
    const signer = await open()
    kms.faults.alter = alter
    expect(await failure(signer.sign(unsigned))).toMatchObject({ code: 'SIGNER_OFFLINE', retriable: true })
  })

  test.each(['AccessDeniedException', 'NotFoundException', 'DisabledException', 'KMSInvalidStateException'])(
    '%s: no start with it, but a lane that runs waits for it',
    async (name) => {
      const signer = await open()
      kms.faults.exception = name
      expect(await failure(open())).toMatchObject({ code: 'SIGNER_UNAVAILABLE', message: expect.stringContaining(name) })
      expect(await failure(signer.sign(unsigned))).toMatchObject({ code: 'SIGNER_OFFLINE', message: expect.stringContaining(name) })
    },
  )

  test('an outage of KMS is SIGNER_OFFLINE until it passes', async () => {
    const signer = await open()
    kms.mode = 500
    expect(await failure(open())).toMatchObject({ code: 'SIGNER_OFFLINE' })
    const error = await failure(signer.sign(unsigned))
    expect(error).toMatchObject({ code: 'SIGNER_OFFLINE', retriable: true })
    expect(`${error?.stack} ${JSON.stringify(error)} ${String(error?.cause)}`).not.toContain(kmsEnvironment.AWS_SECRET_ACCESS_KEY)
    kms.mode = 'well'
    expect((await signer.sign(unsigned)).signingHash).toMatch(/^0x/)
  })

  test("a KMS key of another address than the lane's is refused", async () => {
    expect(await failure(open(kmsKeyId(other)))).toMatchObject({ code: 'SIGNER_UNAVAILABLE', facts: { actual: other.address } })
  })
})

describe('ECDSA signatures in DER', () => {
  const number = fc.bigInt({ min: 1n, max: order - 1n })

  test('DER signatures are read as they were written, whatever their leading zeros', () => {
    const some = fc.oneof(number, fc.bigInt({ min: 1n, max: 1n << 16n }), fc.constantFrom(0x7fn, 0x80n, 0xffn, 1n << 247n, 1n << 255n))
    fc.assert(
      fc.property(some, some, (r, s) => {
        expect(readDerSignature(toDer({ r, s }))).toEqual({ r, s })
      }),
    )
  })

  test('bytes that are no DER signature are read as none, without an error', () => {
    fc.assert(
      fc.property(number, number, fc.nat(), (r, s, cut) => {
        const der = toDer({ r, s })
        expect(readDerSignature(der.subarray(0, cut % der.length))).toBeUndefined()
      }),
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const read = readDerSignature(bytes)
        // An accepted form may have leading zeros that DER forbids.
        if (read) expect(bytes.length).toBeGreaterThanOrEqual(toDer(read).length)
        else expect(read).toBeUndefined()
      }),
    )
  })

  test.each([
    ['a negative number', '3006020180020101'],
    ['a number without bytes', '30050200020101'],
    ['another type', '3006030101020101'],
    ['a wrong length', '3007020101020101'],
  ])('%s is refused', (_, hex) => expect(readDerSignature(Buffer.from(hex, 'hex'))).toBeUndefined())
})
