import { createServer, request, type ServerResponse } from 'node:http'
import { withoutMerges } from '../../lab/devnet/fault-proxy/merged.ts'
import { listen } from './servers.ts'

/** The proxy's treatment of requests: forward, never answer, cut the connection, or answer with an HTTP status. */
export type ProxyMode = 'pass' | 'hang' | 'cut' | number

/** A JSON-RPC node behind a proxy that counts HTTP requests and can misbehave. */
export interface RpcProxy {
  readonly url: string
  mode: ProxyMode
  /** Methods of each HTTP request. A merged read (chains/evm/nodes/merge-calls.ts) has an entry per part. */
  readonly requests: string[][]
  /** Changes a node's result. If it returns undefined, the result does not change. */
  alter: ((method: string, result: unknown, params: readonly unknown[]) => unknown) | undefined
  /** A method that this node refuses, or a function that returns the error. Refused requests are not forwarded. */
  refuse: string | ((method: string, params: readonly unknown[]) => { code: number; message: string } | undefined) | undefined
  /** Retry-After header, sent if `mode` is a status. */
  retryAfter: string | undefined
  /** Delay of each answer, in addition to the node's own, ms. A function gets the methods of the HTTP request. */
  delayMs: number | ((methods: readonly string[]) => number)
  /**
   * Maximum number of calls in one HTTP request, where a merged read counts once. A request with more calls gets 413.
   */
  largestBatch: number
  /** If false, `alter` and `refuse` get a merged read as a whole, and not its parts. */
  readsMerged: boolean
  stop(): void
}

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

const notServed = { code: -32601, message: 'the method does not exist' }

export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const requests: string[][] = []
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const body = Buffer.concat(chunks)
      const asked = [JSON.parse(body.toString())].flat() as Call[]
      const { calls, combine } = proxy.readsMerged
        ? withoutMerges(asked)
        : { calls: asked, combine: (answers: readonly object[]) => answers }
      requests.push(calls.map(({ method }) => method))
      if (proxy.mode === 'hang') return
      if (proxy.mode === 'cut') return void incoming.socket.destroy()
      const headers = proxy.retryAfter === undefined ? {} : { 'retry-after': proxy.retryAfter }
      if (typeof proxy.mode === 'number') return void outgoing.writeHead(proxy.mode, headers).end('a page of the gateway')
      if (asked.length > proxy.largestBatch) return void outgoing.writeHead(413).end('too large')
      const refusals = calls.map((call) => refusalOf(call, proxy))
      if (refusals.every((error) => error !== undefined)) {
        const answers = combine(calls.map(({ id }, index) => ({ jsonrpc: '2.0', id, error: refusals[index] })))
        return void outgoing.end(JSON.stringify(answers.length === 1 ? answers[0] : answers))
      }
      const isMerged = calls.length > asked.length
      const passed = isMerged ? Buffer.from(JSON.stringify(calls)) : body
      const pass = () =>
        forward(target, passed, outgoing, (text) => (isMerged ? merge(alterAll(text, calls, proxy)) : alterAll(text, calls, proxy)))
      const merge = (text: string) => {
        const byId = new Map((JSON.parse(text) as { id: unknown }[]).map((answer) => [answer.id, answer]))
        const answers = combine(calls.map(({ id }) => byId.get(id) ?? {}))
        return JSON.stringify(answers.length === 1 ? answers[0] : answers)
      }
      const { delayMs } = proxy
      const wait = typeof delayMs === 'number' ? delayMs : delayMs(calls.map(({ method }) => method))
      if (wait > 0) setTimeout(pass, wait)
      else pass()
    })
  })
  const proxy: RpcProxy = {
    url: `http://${await listen(server)}`,
    mode: 'pass',
    requests,
    alter: undefined,
    refuse: undefined,
    retryAfter: undefined,
    delayMs: 0,
    largestBatch: Infinity,
    readsMerged: true,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
  return proxy
}

function forward(target: string, body: Buffer, outgoing: ServerResponse, alter: (text: string) => string): void {
  const upstream = request(target, { method: 'POST', headers: { 'content-type': 'application/json' } }, (answer) => {
    const chunks: Buffer[] = []
    answer.on('data', (chunk: Buffer) => chunks.push(chunk))
    answer.on('end', () => {
      outgoing.writeHead(answer.statusCode ?? 500, { 'content-type': 'application/json' })
      outgoing.end(alter(Buffer.concat(chunks).toString()))
    })
  })
  upstream.on('error', () => outgoing.destroy())
  upstream.end(body)
}

function refusalOf({ method, params }: Omit<Call, 'id'>, { refuse }: RpcProxy): { code: number; message: string } | undefined {
  return typeof refuse === 'function' ? refuse(method, params) : method === refuse ? notServed : undefined
}

function alterAll(text: string, calls: readonly Call[], proxy: RpcProxy): string {
  const { alter, refuse } = proxy
  if (!alter && refuse === undefined) return text
  const parsed = JSON.parse(text) as unknown
  const byId = new Map(calls.map((call) => [call.id, call]))
  for (const answer of [parsed].flat() as { id: number; result?: unknown; error?: unknown }[]) {
    const { method, params } = byId.get(answer.id) ?? { method: '', params: [] }
    const changed = alter?.(method, answer.result, params)
    if (changed !== undefined) answer.result = changed
    const error = refusalOf({ method, params }, proxy)
    if (!error) continue
    delete answer.result
    answer.error = error
  }
  return JSON.stringify(parsed)
}
