import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { type MessagePlace, createVaaLookup } from '../../intake/submit/vaa-lookup.ts'
import { nearly, nearlyText } from './arbitraries.ts'
import { type FuzzTarget, target, wordsOf } from './fuzz.ts'

export interface HttpAct {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly times: number
  readonly gzip: boolean
  /** cut: the connection ends within the body. slow: bytes arrive one by one. silent: no byte arrives. */
  readonly end: 'whole' | 'cut' | 'slow' | 'silent'
}

/** Time limit for slow and silent answers, ms. Other answers get more time, because the machine may be busy. */
const slowTimeoutMs = 250
const timeoutMs = 15_000
const trickleMs = 20

const shapes = (vaa: string): readonly unknown[] => [
  { vaaBytes: vaa },
  { data: { vaa } },
  { isEnqueued: true },
  { data: { isEnqueued: false } },
]

export function httpActs(good: readonly unknown[]): fc.Arbitrary<HttpAct> {
  const json = fc.constantFrom(...good).chain((shape) => nearly(shape).map((one) => JSON.stringify(one) ?? ''))
  const text = nearlyText(JSON.stringify(good[0]), ['{', '"', '\\u', '\\ud800', '\u0000', '=', '==', '-_', '!', '[[[[', '1e999', '<html>'])
  const header = fc.constantFrom<Readonly<Record<string, string>>>(
    {},
    ...['0', '5', '-1', '99999999999', 'soon', 'Sat, 21 Nov 2037 12:00:30 GMT'].map((value) => ({ 'retry-after': value })),
    ...['http://127.0.0.1:1/', '/', 'file:///etc/passwd', '//', 'http://[', 'data:,x'].map((value) => ({ location: value })),
    { 'content-length': '3' },
    { 'content-length': '99999999999' },
    { 'content-encoding': 'gzip' },
    { 'content-encoding': 'br, gzip' },
    { 'content-type': 'text/html; charset=utf-7' },
  )
  return fc.record({
    status: fc.constantFrom(200, 200, 200, 200, 204, 206, 301, 302, 307, 308, 400, 401, 404, 418, 429, 500, 502, 503, 599),
    headers: header,
    body: fc.oneof({ arbitrary: json, weight: 4 }, { arbitrary: text, weight: 2 }, { arbitrary: fc.string({ maxLength: 50 }), weight: 1 }),
    times: fc.constantFrom(1, 1, 1, 1, 2, 50_000),
    gzip: fc.constantFrom(false, false, false, true),
    end: fc.oneof(
      { arbitrary: fc.constant('whole' as const), weight: 60 },
      { arbitrary: fc.constant('cut' as const), weight: 8 },
      { arbitrary: fc.constantFrom('slow' as const, 'silent' as const), weight: 1 },
    ),
  })
}

/** Asks hostile servers, then an honest server. Each message must still be found without an error. */
export async function startHttpTarget(
  place: MessagePlace,
  message: Uint8Array,
): Promise<{ target: FuzzTarget; stop: () => Promise<void> }> {
  const vaa = Buffer.from(message).toString('base64')
  let act: HttpAct | undefined
  const hostile = await listen((response) => act && perform(act, response))
  const good = await listen((response) => void response.end(JSON.stringify({ data: { vaa } })))

  async function read(next: HttpAct): Promise<void> {
    act = next
    const isSlow = next.end === 'slow' || next.end === 'silent'
    const pause = { firstMs: 1, mostMs: 2 }
    const options = { timeoutMs: isSlow ? slowTimeoutMs : timeoutMs, pause }
    const lookup = createVaaLookup({ guardianApis: [`${hostile.url}/base`], wormholescanApis: [hostile.url, good.url], ...options })
    const found = await lookup.find(place)
    const held = await lookup.held(place)
    if (held !== undefined && typeof held !== 'boolean') throw new Error(`held is ${String(held)}`)
    if (found.kind === 'found') {
      if (Buffer.from(found.vaa).toString('base64') !== vaa && found.origin === good.url) throw new Error('another VAA than the good one')
      return
    }
    if (!wordsOf(found.why)) throw new Error(`not readable for an operator: ${found.why.slice(0, 500)}`)
    // On a busy machine, even the honest server may not answer within the short time limit.
    if (!(isSlow && found.why.includes(`${good.url}: no answer in time`))) throw new Error(`the good server was not asked: ${found.why}`)
  }

  const stop = async () => void (await Promise.all([hostile.stop(), good.stop()]))
  return { target: target('guardian-api', httpActs(shapes(vaa)), read, () => false), stop }
}

export function perform({ status, headers, body, times, gzip, end }: HttpAct, response: ServerResponse): void {
  if (end === 'silent') return
  const plain = Buffer.from(body.repeat(Math.min(times, Math.ceil(2_100_000 / Math.max(1, body.length)))))
  const bytes = gzip ? gzipSync(plain) : plain
  // An answer with too few bytes is cut off below, because the client would wait for the rest.
  const isShort = bytes.length < Number(headers['content-length'] ?? 0)
  try {
    response.strictContentLength = false
    response.writeHead(status, { ...headers, ...(gzip && { 'content-encoding': 'gzip' }) })
    if (end === 'whole' && !isShort) return void response.end(bytes)
    response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)))
  } catch {
    // Node refuses to send invalid headers.
    response.destroy()
  }
  if (end === 'cut' || end === 'whole') return void setImmediate(() => response.destroy())
  const timer = setInterval(() => response.write(' '), trickleMs)
  response.on('close', () => clearInterval(timer))
}

export async function listen(answer: (response: ServerResponse) => void): Promise<{ url: string; stop: () => Promise<void> }> {
  const server: Server = createServer((request, response) => {
    response.on('error', () => undefined)
    request.resume()
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop }
}
