import { hexlify, keccak256, recoverAddress, Signature, Transaction } from 'ethers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMessageSigner, createSigner } from '../../chains/evm/index.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { startWeb3Signer, type Web3Signer } from '../../lab/devnet/signing/web3signer.ts'

const [mine, other, absent] = [devnetAccount(3), devnetAccount(4), devnetAccount(5)]
const unsigned = { networkId: '1337', nonce: 5, to: other.address, data: '0xabcd', value: '7', gasLimit: '50000', maxFee: '30', tip: '2' }
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

describe('a remote signer of the web3signer kind', () => {
  let service: Web3Signer

  beforeEach(async () => {
    service = await startWeb3Signer([other, mine])
  })
  afterEach(() => service.stop())

  const spec = (more: { url?: string; identifier?: string; timeoutMs?: number } = {}) => ({
    kind: 'remote' as const,
    url: service.url,
    timeoutMs: 15_000,
    ...more,
  })
  const open = (more: Parameters<typeof spec>[0] = {}, address: string | undefined = mine.address) => createSigner(spec(more), address)
  const failure = async (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (reason: Error) => reason,
    )

  test("a remote signer finds its key by the lane's address, and signs both kinds of transactions", async () => {
    const signer = await open()
    expect(signer.address).toBe(mine.address)
    for (const transaction of [unsigned, { ...unsigned, tip: unsigned.maxFee }]) {
      const { raw, hash, signingHash } = await signer.sign(transaction)
      const read = Transaction.from(raw)
      expect(read).toMatchObject({
        chainId: 1337n,
        nonce: 5,
        data: '0xabcd',
        value: 7n,
        gasLimit: 50_000n,
        hash,
        unsignedHash: signingHash,
      })
      expect(read.from?.toLowerCase()).toBe(mine.address)
      expect(read.type).toBe(transaction.tip === '2' ? 2 : 0)
    }
    expect(service.signatures).toBe(2)
  })

  test('a remote signer signs a message, and a signature of another message is refused', async () => {
    const sign = await createMessageSigner(spec(), mine.address)
    const message = Buffer.from('EQ01 and more')
    expect(recoverAddress(keccak256(message), hexlify(await sign(message))).toLowerCase()).toBe(mine.address)
    service.lies.alter = (data) => `${data}00`
    expect(await failure(sign(message))).toMatchObject({ code: 'SIGNER_OFFLINE' })
  })

  test('a remote signer finds its key by an identifier, with or without 0x, in any case', async () => {
    const keys = (await (await fetch(`${service.url}/api/v1/eth1/publicKeys`)).json()) as string[]
    const identifier = keys[1] ?? ''
    for (const one of [identifier, identifier.slice(2), identifier.toUpperCase().replace('0X', '0x')]) {
      expect((await open({ identifier: one })).address).toBe(mine.address)
    }
    const error = await failure(open({ identifier: keys[0] ?? '' }))
    expect(error).toMatchObject({ code: 'SIGNER_UNAVAILABLE', facts: { expected: mine.address, actual: other.address } })
  })

  test("a remote signer's URL keeps its path; user info becomes basic authentication and is in no error", async () => {
    const url = new URL(service.url)
    expect((await open({ url: `http://user:p%40ss@${url.host}/?key=secret-query` })).address).toBe(mine.address)
    const error = await failure(open({ url: `http://user:secret-password@${url.host}/secret-path?key=secret-query` }))
    expect(error).toMatchObject({ code: 'SIGNER_OFFLINE', message: expect.stringContaining('404') })
    expect(`${error?.stack} ${JSON.stringify(error)} ${String(error?.cause)}`).not.toContain('secret')
  })

  test('a key that the remote signer lacks is SIGNER_UNAVAILABLE', async () => {
    expect(await failure(open({}, absent.address))).toMatchObject({ code: 'SIGNER_UNAVAILABLE', facts: { address: absent.address } })
  })

  test.each([
    ['503', 503 as const, '503'],
    ['404', 404 as const, 'does not have the key'],
    ['silence', 'hang' as const, 'did not answer within 2000 ms'],
  ])('%s when it signs is SIGNER_OFFLINE, to be tried again, and passes', async (_, mode, text) => {
    const signer = await open({ timeoutMs: 2_000 })
    service.mode = mode
    const error = await failure(signer.sign(unsigned))
    expect(error).toMatchObject({ code: 'SIGNER_OFFLINE', retriable: true, message: expect.stringContaining(text) })
    service.mode = 'well'
    expect(Transaction.from((await signer.sign(unsigned)).raw).from?.toLowerCase()).toBe(mine.address)
  })

  test('a remote signer that cannot be reached is SIGNER_OFFLINE', async () => {
    await service.stop()
    expect(await failure(open())).toMatchObject({ code: 'SIGNER_OFFLINE', message: expect.stringContaining('cannot be reached') })
  })

  test.each([
    [
      'signs another transaction',
      () => ({ alter: () => Transaction.from({ type: 2, chainId: 1337, nonce: 6, to: other.address }).unsignedSerialized }),
    ],
    ['signs with garbage', () => ({ answer: () => `0x${'11'.repeat(65)}` })],
    ['answers with no signature', () => ({ answer: () => '0x12' })],
    ['answers with zeros', () => ({ answer: () => `0x${'00'.repeat(65)}` })],
  ])('a signer that %s is caught', async (_, lie) => {
    const signer = await open()
    Object.assign(service.lies, lie())
    expect(await failure(signer.sign(unsigned))).toMatchObject({ code: 'SIGNER_OFFLINE', retriable: true })
  })

  test("a remote signer's s in the upper half and any v are corrected", async () => {
    const signer = await open()
    const wanted = await signer.sign(unsigned)
    service.lies.answer = (text) => {
      const { r, s } = Signature.from(text)
      return `${r}${(order - BigInt(s)).toString(16).padStart(64, '0')}00`
    }
    expect(await signer.sign(unsigned)).toEqual(wanted)
  })
})
