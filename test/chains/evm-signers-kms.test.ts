import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import fc from 'fast-check'
import { hexlify, keccak256, recoverAddress, type Signature, Transaction } from 'ethers'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { readDerSignature } from '../../chains/evm/signers/verified.ts'
import { createMessageSigner, createSigner } from '../../chains/evm/index.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { signWithRandom, toDer } from '../../lab/devnet/signing/ecdsa.ts'
import { type Kms, kmsEnvironment, kmsKeyId, startKms } from '../../lab/devnet/signing/kms.ts'
import { startSigningService } from '../../lab/devnet/signing/signing-service.ts'

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
  ])('an answer of the KMS with %s is refused', async (_, alter) => {
    const signer = await open()
    kms.faults.alter = alter
    expect(await failure(signer.sign(unsigned))).toMatchObject({
      ...{ code: 'SIGNER_OFFLINE', retriable: true },
      facts: { address: mine.address },
      about: expect.stringMatching(/^(The answer of KMS is not a signature|Its signature does not recover to the address of the key)\. /),
    })
  })

  test('an answer of KMS that is no signature is named as such, with the key', async () => {
    const signer = await open()
    kms.faults.alter = () => Buffer.from('not DER')
    const about = `The answer of KMS is not a signature. (keyId=${kmsKeyId(mine)} address=${mine.address})`
    expect(await failure(signer.sign(unsigned))).toMatchObject({ code: 'SIGNER_OFFLINE', about })
  })

  test.each(['AccessDeniedException', 'NotFoundException', 'DisabledException', 'KMSInvalidStateException'])(
    '%s: no start with it, but a lane that runs waits for it',
    async (name) => {
      const signer = await open()
      kms.faults.exception = name
      const about = `AWS KMS: ${name}. (keyId=${kmsKeyId(mine)})`
      expect(await failure(open())).toMatchObject({ code: 'SIGNER_UNAVAILABLE', about })
      expect(await failure(signer.sign(unsigned))).toMatchObject({ code: 'SIGNER_OFFLINE', about })
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

  test('a KMS that does not answer in ten seconds is SIGNER_OFFLINE', async () => {
    const signer = await open()
    const { timeout } = AbortSignal
    const short = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout.call(AbortSignal, ms / 50))
    try {
      kms.mode = 'hang'
      for (const work of [() => open(), () => signer.sign(unsigned)])
        expect(await failure(work())).toMatchObject({ code: 'SIGNER_OFFLINE', about: expect.stringContaining('AWS KMS: ') })
      expect(new Set(short.mock.calls.flat())).toEqual(new Set([10_000]))
    } finally {
      short.mockRestore()
    }
  })

  test('a KMS that cannot be reached is SIGNER_OFFLINE, and a missing region SIGNER_UNAVAILABLE', async () => {
    const spec = { kind: 'aws-kms' as const, keyId: 'a-key' }
    expect(await failure(createSigner({ ...spec, endpoint: 'http://127.0.0.1:1', region: 'us-east-1' }))).toMatchObject({
      code: 'SIGNER_OFFLINE',
      about: 'AWS KMS: an error without a name. (keyId=a-key)',
    })
    vi.stubEnv('AWS_REGION', undefined)
    for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) vi.stubEnv(name, join(import.meta.dirname, 'none'))
    try {
      const error = await failure(createSigner({ ...spec, endpoint: kms.url }))
      expect(error).toMatchObject({ code: 'SIGNER_UNAVAILABLE', about: 'No AWS region is configured. (keyId=a-key)' })
    } finally {
      vi.unstubAllEnvs()
    }
  })

  const spki = (curve: string) => generateKeyPairSync('ec', { namedCurve: curve }).publicKey.export({ type: 'spki', format: 'der' })
  const usage = 'SIGN_VERIFY'
  test.each<[string, () => object]>([
    ['it is of P-256', () => ({ KeyUsage: usage, PublicKey: spki('prime256v1').toString('base64') })],
    [
      'it is of Ed25519',
      () => ({
        KeyUsage: usage,
        PublicKey: generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
      }),
    ],
    ['its bytes are no key', () => ({ KeyUsage: usage, PublicKey: 'AAAA' })],
    ['its bytes are missing', () => ({ KeyUsage: usage })],
    ['it agrees on secrets, and does not sign', () => ({ KeyUsage: 'KEY_AGREEMENT', PublicKey: spki('secp256k1').toString('base64') })],
  ])('a KMS key is not used if %s', async (_, described) => {
    const service = await startSigningService(() => ({
      ...{ status: 200, type: 'application/x-amz-json-1.1', body: JSON.stringify(described()) },
    }))
    const error = await failure(createSigner({ kind: 'aws-kms', keyId: 'a-key', endpoint: service.url, region: 'us-east-1' }))
    await service.stop()
    const about = 'The key does not have the type ECC_SECG_P256K1 and the usage SIGN_VERIFY. (keyId=a-key)'
    expect(error).toMatchObject({ code: 'SIGNER_UNAVAILABLE', about })
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
        // `readDerSignature` also accepts leading zeros, which DER forbids.
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
    ['another outer type', '3106020101020101'],
    ['a byte after the second number, within the length', '300702010102010100'],
    ['only a first number', '3003020101'],
    ['a number that goes beyond the end', '30020205'],
    ['a second number that goes beyond the end', '30050201010205'],
    ['a second number of another type', '3006020101030101'],
    ['nothing', ''],
  ])('%s is refused', (_, hex) => expect(readDerSignature(Buffer.from(hex, 'hex'))).toBeUndefined())
})
