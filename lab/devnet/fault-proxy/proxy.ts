import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { keccak256 } from 'ethers'
import { postJson } from '../chain/post.ts'
import { answerBehind, askBehind, type Behind, type RpcAnswer, type RpcCall } from './behind.ts'
import { lieAbout } from './lies.ts'
import { falsified, rangeOf } from './logs.ts'
import { withoutMerges } from './merged.ts'
import { type ActiveRule, type FaultRule, FaultRules } from './rules.ts'

/** A proxy of a JSON-RPC node that misbehaves by rules. Several proxies of one anvil act as several nodes. */
export interface FaultProxy {
  readonly url: string
  readonly calls: ReadonlyMap<string, number>
  add(rule: FaultRule): ActiveRule
  clear(): void
  stop(): Promise<void>
}

const wholeRequests = ['hang', 'accept-and-hang', 'cut', 'status', 'flood', 'redirect'] as const

export async function startFaultProxy(target: string, port = 0): Promise<FaultProxy> {
  const rules = new FaultRules()
  const calls = new Map<string, number>()
  const hanging = new Set<ServerResponse>()
  const release = () => {
    for (const response of hanging) response.destroy()
    hanging.clear()
  }
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as RpcCall | RpcCall[]
    const asked = [body].flat()
    const methods = asked.map(({ method }) => method)
    const { calls: each, combine } = withoutMerges(asked)
    for (const method of methods) calls.set(method, (calls.get(method) ?? 0) + 1)
    const whole = rules.strike(wholeRequests, methods)
    if (whole?.kind === 'hang') return void hanging.add(outgoing)
    if (whole?.kind === 'cut') return void incoming.socket.destroy()
    if (whole?.kind === 'status') {
      const headers = whole.retryAfterSeconds === undefined ? {} : { 'retry-after': String(whole.retryAfterSeconds) }
      return void outgoing.writeHead(whole.status, headers).end('a page of the gateway')
    }
    if (whole?.kind === 'redirect') return void outgoing.writeHead(307, { location: whole.to }).end()
    if (whole?.kind === 'flood') {
      return void outgoing.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(blanksOf(whole.mebibytes))
    }
    const answers = combine(await answerAll(target, each, rules))
    if (whole) return void hanging.add(outgoing)
    const text = JSON.stringify(Array.isArray(body) ? disordered(answers, methods, rules) : answers[0])
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(text)
  }
  // If the node has ended, the proxy cuts the client's connection.
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing).catch(() => outgoing.destroy()))
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    add: (rule) => rules.add(rule),
    clear() {
      rules.clear()
      release()
    },
    stop: () =>
      new Promise((resolve) => {
        release()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Compressed blanks. gzip allows concatenated members, so one compressed MiB is repeated. */
function blanksOf(mebibytes: number): Buffer {
  return Buffer.concat(Array<Buffer>(mebibytes).fill(gzipSync(Buffer.alloc(2 ** 20, ' '))))
}

type Answer = RpcAnswer & { readonly jsonrpc: '2.0'; readonly id: unknown }

async function answerAll(target: string, asked: readonly RpcCall[], rules: FaultRules): Promise<Answer[]> {
  const lag = rules.strike(
    ['behind', 'finality-behind'],
    asked.map(({ method }) => method),
  )
  const behind = lag && (await behindBy(target, lag))
  const plans = asked.map((call) => plan(behind ? askBehind(call, behind) : call, rules))
  const forwarded = plans.flatMap((one) => one.forward ?? [])
  const found = await forward(target, forwarded)
  return Promise.all(
    asked.map(async (call, index): Promise<Answer> => {
      let answer: RpcAnswer = plans[index]?.answer ?? found.get(call.id) ?? { error: { code: -32_603, message: 'no answer' } }
      if (behind && 'result' in answer) answer = { result: answerBehind(call.method, answer.result, behind) }
      if (call.method === 'eth_getLogs' && 'result' in answer) answer = { result: forged(answer.result, rules) }
      if (call.method === 'eth_getTransactionReceipt' && 'result' in answer) answer = { result: await lied(target, answer.result, rules) }
      if ('result' in answer) answer = { result: falseResult(call.method, answer.result, rules) }
      return { jsonrpc: '2.0', id: call.id, ...answer }
    }),
  )
}

function falseResult(method: string, result: unknown, rules: FaultRules): unknown {
  const lie = rules.strike(['lie'], [method], ({ how }) => lieAbout(how, method, result) !== result)
  return lie ? lieAbout(lie.how, method, result) : result
}

/** With `forward` and `answer`, the node executes the call, but the client gets the answer. */
interface CallPlan {
  readonly forward?: RpcCall
  readonly answer?: RpcAnswer
}

function plan(call: RpcCall | RpcAnswer, rules: FaultRules): CallPlan {
  if (!('method' in call)) return { answer: call }
  const error = rules.strike(['error'], [call.method])
  if (error) {
    const answer = { error: { code: error.code, message: error.message } }
    return error.forward ? { forward: call, answer } : { answer }
  }
  const answer = rules.strike(['answer'], [call.method, `${call.method} ${selectorOf(call)}`])
  if (answer) return { answer: { result: answer.result } }
  const range = rangeOf(call)
  const refused = range !== undefined && rules.strike(['log-range'], [call.method], ({ blocks }) => range > blocks)
  if (refused) return { answer: { error: { code: refused.code, message: refused.message } } }
  if (call.method === 'eth_sendRawTransaction' && rules.strike(['swallow'], [call.method])) {
    return { answer: { result: keccak256(String(call.params[0])) } }
  }
  return { forward: call }
}

function selectorOf({ params }: RpcCall): string | undefined {
  const [call] = params as readonly ({ data?: unknown; input?: unknown } | undefined)[]
  const data = call?.data ?? call?.input
  return typeof data === 'string' ? data.slice(0, 10) : undefined
}

async function forward(target: string, calls: readonly RpcCall[]): Promise<Map<unknown, RpcAnswer>> {
  if (calls.length === 0) return new Map()
  const asked = calls.map((call) => ({ jsonrpc: '2.0', ...call }))
  const answers = (await postJson(target, asked)) as (RpcAnswer & { id: unknown })[]
  return new Map(answers.map(({ id, ...answer }) => [id, answer]))
}

async function behindBy(target: string, { kind, blocks }: { kind: 'behind' | 'finality-behind'; blocks: number }): Promise<Behind> {
  const ask = (id: string, tag: string): RpcCall => ({ id, method: 'eth_getBlockByNumber', params: [tag, false] })
  const found = await forward(target, [ask('head', 'latest'), ask('safe', 'safe'), ask('finalized', 'finalized')])
  const height = (id: string, by: number) => {
    const answer = found.get(id)
    const block = answer && 'result' in answer ? (answer.result as { number: string }) : undefined
    return Math.max(0, Number(block?.number ?? 0) - by)
  }
  return { head: height('head', kind === 'behind' ? blocks : 0), safe: height('safe', blocks), finalized: height('finalized', blocks) }
}

function forged(result: unknown, rules: FaultRules): unknown {
  const how = Array.isArray(result) && result.length > 0 ? rules.strike(['logs'], ['eth_getLogs'])?.how : undefined
  return how ? falsified(result as unknown[], how) : result
}

async function lied(target: string, result: unknown, rules: FaultRules): Promise<unknown> {
  if (result === null || typeof result !== 'object') return result
  const lie = rules.strike(['receipt'], ['eth_getTransactionReceipt'])?.lie
  if (lie === undefined) return result
  if (lie === 'null') return null
  const receipt = result as { status: string; blockNumber: string }
  if (lie === 'status') return { ...receipt, status: receipt.status === '0x1' ? '0x0' : '0x1', logs: [] }
  const blockNumber = `0x${Math.max(0, Number(receipt.blockNumber) - 1).toString(16)}`
  const found = await forward(target, [{ id: 1, method: 'eth_getBlockByNumber', params: [blockNumber, false] }])
  const other = found.get(1)
  const blockHash = other && 'result' in other ? (other.result as { hash: string }).hash : undefined
  return { ...receipt, blockNumber, blockHash }
}

function disordered<One>(answers: readonly One[], methods: readonly string[], rules: FaultRules): readonly One[] {
  if (answers.length < 2) return answers
  const how = rules.strike(['batch'], methods)?.how
  if (how === 'drop') return answers.slice(0, -1)
  if (how === 'duplicate') return [...answers, ...answers.slice(0, 1)]
  if (how === 'reorder') return answers.toReversed()
  return answers
}
