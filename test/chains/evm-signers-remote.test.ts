import { hexlify, keccak256, recoverAddress, Signature, SigningKey, Transaction } from 'ethers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMessageSigner, createSigner } from '../../chains/evm/index.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { startSigningService } from '../../lab/devnet/signing/signing-service.ts'
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
    expect(await failure(open({}, absent.address))).toMatchObject({
      code: 'SIGNER_UNAVAILABLE',
      about: `The remote signer has 2 keys, but not this one: load it there, or correct identifier. (signer=${service.url} address=${absent.address})`,
    })
  })

  test.each([
    ['503', 503 as const, 'The remote signer answered with 503.'],
    ['404', 404 as const, 'The remote signer answered with 404 (it does not have the key, or the URL is not that of its eth1 API).'],
    ['silence', 'hang' as const, 'The remote signer did not answer within 2000 ms.'],
  ])('%s when it signs is SIGNER_OFFLINE, to be tried again, and passes', async (_, mode, text) => {
    const signer = await open({ timeoutMs: 2_000 })
    service.mode = mode
    const error = await failure(signer.sign(unsigned))
    expect(error).toMatchObject({ code: 'SIGNER_OFFLINE', retriable: true, about: `${text} (signer=${service.url})` })
    service.mode = 'well'
    expect(Transaction.from((await signer.sign(unsigned)).raw).from?.toLowerCase()).toBe(mine.address)
  })

  test('a remote signer that cannot be reached is SIGNER_OFFLINE', async () => {
    await service.stop()
    expect(await failure(open())).toMatchObject({
      code: 'SIGNER_OFFLINE',
      about: `The remote signer cannot be reached. (signer=${service.url})`,
    })
  })

  test.each([
    [
      'signs another transaction',
      () => ({ alter: () => Transaction.from({ type: 2, chainId: 1337, nonce: 6, to: other.address }).unsignedSerialized }),
    ],
    ['signs with garbage', () => ({ answer: () => `0x${'11'.repeat(65)}` })],
    ['answers with no signature', () => ({ answer: () => '0x12' })],
    ['answers with more after the signature', () => ({ answer: (text: string) => `${text}00` })],
    ['answers with more before the signature', () => ({ answer: (text: string) => `0x${text}` })],
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

  test('a signature in quotes, between spaces, is read', async () => {
    const signer = await open()
    const wanted = await signer.sign(unsigned)
    service.lies.answer = (text) => ` "${text}"\n`
    expect(await signer.sign(unsigned)).toEqual(wanted)
    service.lies.answer = (text) => `"no ${text}"`
    expect(await failure(signer.sign(unsigned))).toMatchObject({
      code: 'SIGNER_OFFLINE',
      about: `Its answer is not a signature. (signer=${service.url})`,
    })
  })
})

describe('requests to a remote signer, and its list of keys', () => {
  /** Runs `work` with a signing service that answers requests for its list of keys with `text`. */
  async function withList<T>(text: string, work: (url: string, asked: Asked[]) => Promise<T>): Promise<T> {
    const asked: Asked[] = []
    const service = await startSigningService(({ method, url, headers }, body) => {
      asked.push({ method, url, accept: headers.accept, type: headers['content-type'], body })
      return { status: 200, type: 'application/json', body: method === 'GET' ? text : '0x' }
    })
    try {
      return await work(service.url, asked)
    } finally {
      await service.stop()
    }
  }
  interface Asked {
    readonly method: string | undefined
    readonly url: string | undefined
    readonly accept: string | undefined
    readonly type: string | undefined
    readonly body: string
  }
  const spec = (url: string) => ({ kind: 'remote' as const, url, timeoutMs: 15_000 })
  const point = SigningKey.computePublicKey(mine.privateKey)

  test('a remote signer is asked for its list without a body, and for a signature in JSON', async () => {
    await withList(JSON.stringify([point]), async (url, asked) => {
      const signer = await createSigner(spec(`${url}/sub`), mine.address)
      await expect(signer.sign(unsigned)).rejects.toMatchObject({ code: 'SIGNER_OFFLINE' })
      const { unsignedSerialized } = Transaction.from({
        ...{ type: 2, chainId: 1337, nonce: 5, to: other.address, data: '0xabcd', value: 7 },
        ...{ gasLimit: 50_000, maxFeePerGas: 30, maxPriorityFeePerGas: 2 },
      })
      const body = JSON.stringify({ data: unsignedSerialized })
      expect(asked).toEqual([
        { method: 'GET', url: '/sub/api/v1/eth1/publicKeys', accept: '*/*', type: undefined, body: '' },
        { method: 'POST', url: `/sub/api/v1/eth1/sign/${point}`, accept: '*/*', type: 'application/json', body },
      ])
    })
  })

  test.each([
    ['a point without its prefix', `0x${point.slice(4)}`],
    ['a point with its prefix', point],
    ['a compressed point', SigningKey.computePublicKey(mine.privateKey, true)],
    ['a point without 0x', point.slice(2)],
  ])('a key of the list may be %s', async (_, key) => {
    await withList(JSON.stringify([key]), async (url) => {
      expect((await createSigner(spec(url), mine.address)).address).toBe(mine.address)
    })
  })

  const broken = '0x12'
  test('a malformed key of the list is not used, and without an address or an identifier no key is', async () => {
    await withList(JSON.stringify([broken, point]), async (url) => {
      expect((await createSigner(spec(url), mine.address)).address).toBe(mine.address)
      for (const identifier of [broken, undefined])
        await expect(createSigner({ ...spec(url), identifier })).rejects.toMatchObject({
          code: 'SIGNER_UNAVAILABLE',
          about: expect.stringContaining('The remote signer has 2 keys, but not this one'),
        })
    })
  })

  test.each([
    ['no JSON', 'OK', 'Its answer is not a list of public keys.'],
    ['no list', '{"keys":[]}', 'Its answer is not a list of public keys.'],
    ['a list of other things too', JSON.stringify([point, 1]), 'Its answer is not a list of public keys.'],
    ['endless', ' '.repeat(4 * 1_024 * 1_024 + 1), 'The remote signer gave an answer that is too long.'],
  ])('a list of keys that is %s is refused', async (_, text, detail) => {
    await withList(text, async (url) => {
      const about = `${detail} (signer=${url})`
      await expect(createSigner(spec(url), mine.address)).rejects.toMatchObject({ code: 'SIGNER_OFFLINE', about })
    })
  })
})
