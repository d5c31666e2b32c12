import type { ServerResponse } from 'node:http'
import { keccak256, toBeHex, zeroPadValue } from 'ethers'
import { describe, expect, test } from 'vitest'
import { createIris, type AttestedMessage } from '../../intake/submit/iris.ts'
import { zeroWord } from '../../bridges/cctp/message.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { until } from '../../lab/devnet/until.ts'
import { burnBytes, irisWithoutChains, txOf } from '../helpers/cctp.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import { listenHttp } from '../helpers/servers.ts'

const logged = (fields = {}) => burnBytes(2, { nonce: zeroWord, finalityExecuted: 0, ...fields })
const bytes = logged()
const place = { domain: 0, txHash: txOf(bytes) }
const all = async (messages: readonly AttestedMessage[]) => messages
const quick = { timeoutMs: 3_000 }

describe("Circle's attestation API", () => {
  test("Circle's attestation API gives the attested messages of a transaction, in the order of their logs", async () => {
    const { api, see } = await irisWithoutChains()
    const others = [logged({ minFinality: 1_999 }), logged({ minFinality: 1_998 })]
    see({ bytes: others[1]!, txHash: place.txHash, logIndex: 9 })
    see({ bytes, logIndex: 4 })
    see({ bytes: others[0]!, txHash: place.txHash, logIndex: 5, level: 'latest' })
    const iris = createIris({ urls: [api.url] })
    const found = await iris.ofTransaction(place, all)
    const minima = found.kind === 'found' ? found.value.map((one) => Buffer.from(one.bytes).readUInt32BE(140)) : []
    expect(minima).toEqual([2_000, 1_998])
    expect(found.kind === 'found' && found.value.map(({ attestation }) => attestation.length)).toEqual([130, 130])
    expect(await iris.ofTransaction(place, async () => undefined)).toEqual({
      kind: 'pending',
      why: `${api.url}: complete, pending_confirmations`,
    })
  })

  test("Circle's attestation API names the state of a message that is not attested", async () => {
    const { api, attestations, see } = await irisWithoutChains()
    const iris = createIris({ urls: [api.url] })
    expect(await iris.ofTransaction(place, all)).toEqual({ kind: 'pending', why: `${api.url}: not seen yet` })
    see({ bytes, level: 'latest' })
    expect(await iris.ofTransaction(place, all)).toEqual({ kind: 'pending', why: `${api.url}: pending_confirmations` })
    const fast = logged({ minFinality: 1_000 })
    attestations.treat(() => 'finalize')
    see({ bytes: fast, level: 'latest' })
    const why = `${api.url}: pending_confirmations (insufficient_fee)`
    expect(await iris.ofTransaction({ domain: 0, txHash: txOf(fast) }, all)).toEqual({ kind: 'pending', why })
  })

  test("Circle's attestation API gives attestations of v1 messages by their hash", async () => {
    const { api, see } = await irisWithoutChains()
    const [v1, iris] = [burnBytes(1), createIris({ urls: [`${api.url}/`] })]
    const find = () => iris.ofHash(keccak256(v1), async (attestation) => attestation.length)
    expect(await find()).toMatchObject({ kind: 'pending' })
    see({ bytes: v1, level: 'latest' })
    expect(await find()).toEqual({ kind: 'pending', why: `${api.url}: pending_confirmations` })
    see({ bytes: v1 })
    expect(await find()).toEqual({ kind: 'found', value: 130 })
  })

  test("Circle's attestation API attests a fast message again on request, and nothing else", async () => {
    const { api, see } = await irisWithoutChains()
    const fast = logged({ minFinality: 1_000 })
    const iris = createIris({ urls: [api.url] })
    const read = async () => {
      const found = await iris.ofTransaction({ domain: 0, txHash: txOf(fast) }, all)
      const [message] = found.kind === 'found' ? found.value : []
      const view = Buffer.from(message?.bytes ?? [])
      return { nonce: `0x${view.toString('hex', 12, 44)}`, finality: view.readUInt32BE(144), expires: view.readUInt32BE(372) }
    }
    see({ bytes: fast, level: 'latest' })
    const first = await read()
    expect(first).toMatchObject({ finality: 1_000, expires: 7_300 })
    await iris.reattest(first.nonce)
    expect(await read()).toEqual(first)
    see({ bytes: fast, level: 'finalized' })
    expect(await read()).toEqual({ ...first, finality: 2_000, expires: 0 })
    expect(await codeOfAsync(() => iris.reattest(first.nonce))).toBe('IRIS_UNAVAILABLE')
    expect(await codeOfAsync(() => iris.reattest(zeroWord))).toBe('IRIS_UNAVAILABLE')
  })

  test("Circle's API is asked at each URL until one has a wanted message; errors show only origins", async () => {
    const [empty, other, good] = await Promise.all([irisWithoutChains(), irisWithoutChains(), irisWithoutChains()])
    other.see({ bytes: logged({ minFinality: 7 }), txHash: place.txHash })
    good.see({ bytes })
    const down = `http://127.0.0.1:${await freePort()}`
    const pick = async ([message]: readonly AttestedMessage[]) => (message?.bytes[143] === 0xd0 ? message : undefined)
    const urls = [`${down}/key/topsecret`, `${empty.api.url}/`, other.api.url, good.api.url]
    expect(await createIris({ urls, ...quick }).ofTransaction(place, pick)).toMatchObject({ kind: 'found' })
    const pending = await createIris({ urls: urls.slice(0, 3), ...quick }).ofTransaction(place, pick)
    expect(pending).toEqual({
      kind: 'pending',
      why: `${down}: asked to wait; ${empty.api.url}: not seen yet; ${other.api.url}: complete`,
    })
    const silent = createIris({ urls: [`${down}/key/topsecret`], ...quick })
    await expect(silent.ofTransaction(place, pick)).rejects.toMatchObject({
      code: 'IRIS_UNAVAILABLE',
      about: expect.not.stringContaining('topsecret'),
      facts: { againInMs: expect.any(Number) },
    })
  })

  test.each([
    ['no JSON', 'nope'],
    ['another shape', '{"messages":7}'],
    [
      'entries of another shape',
      '{"messages":[null,7,{"status":"complete"},{"status":"complete","message":"0x1","attestation":"PENDING"}]}',
    ],
    ['an attestation that is not hex', `{"status":"complete","attestation":"0xzz"}`],
  ])("an answer of Circle's API with %s is not believed", async (_, answer) => {
    const url = await listenHttp((_, response) => void response.end(answer))
    const iris = createIris({ urls: [url], ...quick })
    for (const ask of [() => iris.ofTransaction(place, all), () => iris.ofHash(zeroWord, async () => true)])
      expect(['pending', 'IRIS_UNAVAILABLE']).toContain(
        await ask().then(
          ({ kind }) => kind,
          ({ code }) => code,
        ),
      )
  })

  test.each([
    ['is too long', (response: ServerResponse) => void response.writeHead(200, { 'content-length': 99_000_000 }).write('{')],
    ['does not end in time', (response: ServerResponse) => void response.writeHead(200).write('{')],
    ['refuses the question', (response: ServerResponse) => void response.writeHead(422).end()],
  ])("if an answer of Circle's API %s, only its transaction waits, and the API counts as up", async (_, act) => {
    const { api, see } = await irisWithoutChains()
    see({ bytes })
    const url = await listenHttp((request, response) => {
      if (request.url?.includes(place.txHash)) act(response)
      else response.writeHead(307, { location: api.url }).end()
    })
    const iris = createIris({ urls: [url], timeoutMs: 1_000 })
    for (let times = 0; times < 2; times++)
      expect(await iris.ofTransaction(place, all)).toEqual({ kind: 'pending', why: expect.not.stringContaining('asked to wait') })
    await expect(iris.ofTransaction({ ...place, txHash: zeroWord }, all)).rejects.toMatchObject({
      code: 'IRIS_UNAVAILABLE',
      about: expect.stringContaining('a redirect'),
    })
  })

  test("an answer of Circle's API that is too long is not read to its end", async () => {
    const url = await listenHttp((_, response) => {
      const more = () => {
        while (response.write(Buffer.alloc(65_536, 0x20)));
      }
      response.on('drain', more)
      more()
    })
    const good = await irisWithoutChains()
    good.see({ bytes })
    expect(await createIris({ urls: [url, good.api.url], timeoutMs: 60_000 }).ofTransaction(place, all)).toMatchObject({ kind: 'found' })
  })
})

const hashes = (most: number) => Array.from({ length: most }, (_, index) => zeroPadValue(toBeHex(index + 1), 32))

describe('Many questions at once', () => {
  const long = JSON.stringify({ messages: [{ status: 'complete', message: `0x${'7b'.repeat(10_000)}`, attestation: '0x01' }] })

  test("parallel reads of one transaction share one request to Circle's API", async () => {
    const { api, see } = await irisWithoutChains()
    see({ bytes })
    const options = { urls: [api.url], perSecond: 20, timeoutMs: 3_000 }
    const clients = [createIris(options), createIris(options)]
    const all160 = Array.from({ length: 160 }, (_, index) => clients[index % 2]!.ofTransaction(place, all))
    expect(new Set((await Promise.all(all160)).map(({ kind }) => kind))).toEqual(new Set(['found']))
    expect(api.requests.length).toBe(1)
    expect(await clients[0]!.ofTransaction(place, all)).toMatchObject({ kind: 'found' })
    expect(api.requests.length).toBe(2)
  })

  test('reads without free memory for their answers wait for their turns, and then succeed', async () => {
    const url = await listenHttp((_, response) => {
      response.write(long.slice(0, 10_000))
      setTimeout(() => response.end(long.slice(10_000)), 50)
    })
    const iris = createIris({ urls: [url], perSecond: 1_000, timeoutMs: 20_000, mostBytesAtOnce: long.length + 1 })
    const asked = await Promise.all(hashes(20).map((txHash) => iris.ofTransaction({ domain: 0, txHash }, all)))
    expect(asked.map(({ kind }) => kind)).toEqual(asked.map(() => 'found'))
  })

  test('if the turn of a read comes too late, only its transaction waits, and the API counts as up', async () => {
    const url = await listenHttp((_, response) => void setTimeout(() => response.end(long), 300))
    const iris = createIris({ urls: [url], perSecond: 1_000, timeoutMs: 1_000, mostBytesAtOnce: 1_000 })
    const asked = await Promise.all(hashes(8).map((txHash) => iris.ofTransaction({ domain: 0, txHash }, all)))
    expect(asked[0]).toMatchObject({ kind: 'found' })
    expect(asked.at(-1)).toEqual({ kind: 'pending', why: `${url}: too many long answers at once` })
  })
})

describe("The rate limit of Circle's API", () => {
  test("the rate limit of Circle's API is kept by all clients of a process together", async () => {
    const { api, see } = await irisWithoutChains()
    const places = hashes(70).map((txHash) => ({ domain: 0, txHash }))
    for (const { txHash } of places) see({ bytes, txHash })
    api.trouble({ limit: { requests: 35, perMs: 1_000, blockMs: 300_000 } })
    const options = { urls: [api.url], perSecond: 20, timeoutMs: 10_000 }
    const clients = [createIris(options), createIris(options), createIris(options)]
    const asked = await Promise.all(places.map((one, index) => clients[index % 3]!.ofTransaction(one, all)))
    expect(asked.every(({ kind }) => kind === 'found')).toBe(true)
    expect(api.requests.length).toBe(70)
  })

  test('while Circle refuses requests because of their rate, the client of its API sends none', async () => {
    const { api, see } = await irisWithoutChains()
    const places = [place, ...hashes(39).map((txHash) => ({ domain: 0, txHash }))]
    for (const { txHash } of places) see({ bytes, txHash })
    api.trouble({ limit: { requests: 5, perMs: 1_000, blockMs: 2_000 } })
    const iris = createIris({ urls: [api.url], perSecond: 1_000, parallel: 1, restAfter429Ms: 3_000 })
    const codes = await Promise.all(places.map((one) => codeOfAsync(() => iris.ofTransaction(one, all))))
    expect(codes.filter((code) => code === 'none').length).toBe(5)
    expect(api.requests.length).toBe(6)
    await expect(iris.ofTransaction(place, all)).rejects.toMatchObject({
      facts: { againInMs: expect.any(Number) },
      about: expect.stringContaining('asked to wait'),
    })
    await until(async () => (await iris.ofTransaction(place, all)).kind === 'found', { timeoutMs: 30_000, what: 'the end of the block' })
    expect(api.early).toBe(0)
    expect(api.requests.length).toBe(7)
  })

  test("the rate limit of Circle's API sends no request whose turn would come after its time-out", async () => {
    const { api, see } = await irisWithoutChains()
    const places = hashes(20).map((txHash) => ({ domain: 0, txHash }))
    for (const { txHash } of places) see({ bytes, txHash })
    const iris = createIris({ urls: [api.url], perSecond: 2, timeoutMs: 1_200 })
    const codes = await Promise.all(places.map((one) => codeOfAsync(() => iris.ofTransaction(one, all))))
    expect(codes.filter((code) => code === 'none').length).toBe(3)
    expect(api.requests.length).toBe(3)
  })
})
