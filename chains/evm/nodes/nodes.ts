import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { NodeChange } from '../../../domain/settings/settings.ts'
import { pause, Wait } from '../../../runtime/wait.ts'
import { comparedHeight, lagOf, mostLag } from '../../heads.ts'
import { toNumber } from '../hex.ts'
import { createNodeClient, type NodeClient, type NodeSpec } from './node-client.ts'
import { executesContracts, isVerdict, MalformedAnswer, type ReadAnswer, RpcError, TransportError } from './node-errors.ts'
import { createNodeSet } from './node-set.ts'

/** Time (ms) that slower nodes get after one node has answered, as in chainlink-evm. */
const graceMs = 5_000
/** A call waits up to this time (ms) beyond a node's time-out, so that the time-out counts as the node's failure. */
const noticeMs = 250

export type NodeAnswer<T> =
  | { readonly name: string; readonly ok: true; readonly result: T }
  | { readonly name: string; readonly ok: false; readonly error: RpcError | TransportError }

type OnAnswer<T> = (answer: NodeAnswer<T>, answers: readonly NodeAnswer<T>[]) => boolean

export interface Call<T> {
  readonly method: string
  readonly params: readonly unknown[]
  readonly read: ReadAnswer<T>
}

const defaultTimeoutMs = 10_000

export interface NodesOptions {
  readonly name: string
  readonly networkId: string
  readonly nodes: readonly NodeSpec[]
  /** `private`: transactions go only to nodes whose use is `private`. Default: public. */
  readonly send?: 'public' | 'private' | undefined
  readonly timeoutMs?: number | undefined
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
}

export type Nodes = ReturnType<typeof createNodes>

export function createNodes({ name, networkId, nodes, send, timeoutMs = defaultTimeoutMs, environment = {} }: NodesOptions) {
  const callsByNode = new Map<string, Map<string, number>>()
  const closing = new AbortController()
  const make = (spec: NodeSpec) => {
    const calls = callsByNode.get(spec.name) ?? new Map<string, number>()
    callsByNode.set(spec.name, calls)
    return createNodeClient(spec, networkId, timeoutMs, (method) => calls.set(method, (calls.get(method) ?? 0) + 1))
  }
  const set = createNodeSet(nodes, make, environment)
  const sendUses = send === 'private' ? ['private'] : ['all', 'send']
  /** Majorities count all reading nodes of the config, even disabled ones, so that settings cannot shift them. */
  const voters = set.configured.filter(({ reads }) => reads)
  const enabled = () => [...set.configured, ...set.added].filter(({ disabled }) => !disabled)
  const readers = () => (voters.some(({ disabled }) => !disabled) ? enabled().filter(({ reads }) => reads) : [])
  const senders = () => enabled().filter(({ spec }) => sendUses.includes(spec.use))
  const ofSends = set.configured.filter(({ spec }) => sendUses.includes(spec.use)).map(({ spec }) => spec.name)
  const needed = Math.floor(voters.length / 2) + 1
  const askOne = createAskOne(name, readers, timeoutMs, closing.signal)

  /** Probes the nodes that are due, in parallel with calls, so that no call waits for a dead node. */
  function probe(): void {
    for (const node of enabled()) if (node.due) node.check().catch(() => undefined)
  }

  return {
    callsByNode,
    /** Number of voters, including disabled ones. */
    readers: voters.length,
    needed,
    /** Throws CHAIN_ID_MISMATCH, and NODE_UNAVAILABLE if no reading node answers. */
    verify: () => verify(enabled(), name, networkId),
    /** Asks one node after another until one answers. Throws RpcError, the error of `read`, or NODE_UNAVAILABLE. */
    request<T>(method: string, params: readonly unknown[], read: ReadAnswer<T>): Promise<T> {
      probe()
      return askOne({ method, params, read })
    },
    /**
     * Asks the voters that are up and, if these are not a majority, also voters that may be tried again. Never throws.
     * @param mostGraceMs time (ms) that slower nodes get once more than half have answered
     */
    askAll<T>(method: string, params: readonly unknown[], read: ReadAnswer<T>, onAnswer?: OnAnswer<T>, mostGraceMs?: number) {
      probe()
      const up = voters.filter((node) => node.up)
      const others = voters.filter((node) => !node.up && !node.disabled && node.revivable)
      const asked = up.length * 2 > voters.length ? up : [...up, ...others]
      return askMany(asked, { method, params, read }, timeoutMs, onAnswer, mostGraceMs, needed)
    },
    sendAll<T>(method: string, params: readonly unknown[], read: ReadAnswer<T>, onAnswer?: OnAnswer<T>) {
      probe()
      const all = senders()
      const up = all.filter((node) => node.up)
      return askMany(up.length > 0 ? up : all.filter(({ revivable }) => revivable), { method, params, read }, timeoutMs, onAnswer)
    },
    /** Whether `names` has more than half of the config's nodes that take transactions, including disabled nodes. */
    areMostSenders: (names: readonly string[]) => ofSends.filter((one) => names.includes(one)).length * 2 > ofSends.length,
    /**
     * Measures how far nodes lag, so that lagging nodes are asked last. `known`: height of the tracked head. Never
     * throws.
     */
    rank: (known?: number) => rank(readers(), voters, known),
    status: set.status,
    adjust(changes: readonly NodeChange[]) {
      set.adjust(changes)
      if (!closing.signal.aborted) probe()
    },
    close() {
      closing.abort()
      set.close()
    },
  }
}

async function verify(nodes: readonly NodeClient[], chain: string, expected: string): Promise<void> {
  const found = await Promise.allSettled(nodes.map((node) => node.check()))
  const wrong = nodes.findIndex((node) => node.status().state === 'wrong-network')
  const actual = found[wrong]
  if (actual?.status === 'fulfilled') {
    throw new RelayerError('CHAIN_ID_MISMATCH', { facts: { chain, node: nodes[wrong]?.origin, expected, actual: actual.value } })
  }
  if (nodes.some(({ reads, up }) => reads && up)) return
  const problems = found.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []))
  throw unavailable(chain, problems)
}

async function rank(readers: readonly NodeClient[], voters: readonly NodeClient[], known: number | undefined): Promise<void> {
  const up = readers.filter((node) => node.up)
  if (up.length < 2) {
    for (const node of up) node.lag = undefined
    return
  }
  const read = up.map((node) => node.ask('eth_blockNumber', [], (height) => toNumber(height, 'block number')))
  const found = (await Promise.allSettled(read)).map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined))
  const heights = new Map(up.map((node, index) => [node, found[index]]))
  const ofVoters = voters.map((node) => heights.get(node))
  const reached = comparedHeight(ofVoters, voters.length, known)
  for (const [node, height] of heights) node.lag = lagOf(height, reached) ?? node.lag
}

export function resultsOf<T>(answers: readonly NodeAnswer<T>[]): T[] {
  return answers.flatMap((answer) => (answer.ok ? [answer.result] : []))
}

async function askMany<T>(
  nodes: readonly NodeClient[],
  call: Call<T>,
  timeoutMs: number,
  onAnswer?: OnAnswer<T>,
  mostGraceMs?: number,
  needed = 1,
): Promise<NodeAnswer<T>[]> {
  const answers: NodeAnswer<T>[] = []
  const timers: NodeJS.Timeout[] = []
  // An AbortController costs much more, because each abort makes two errors with stack traces.
  const ended = new Wait<void>({}, () => {})
  const end = () => ended.resolve()
  const endAfter = (ms: number) => timers.push(setTimeout(end, Math.min(ms, timeoutMs + noticeMs)).unref())
  let answered = 0
  const each = nodes.map(async (node) => {
    const answer = await ask(node, call)
    answers.push(answer)
    if (onAnswer?.(answer, answers)) end()
    if (!answer.ok || answers.length === nodes.length) return
    answered++
    if (answered === 1) endAfter(graceMs)
    if (answered === needed && mostGraceMs !== undefined) endAfter(mostGraceMs)
  })
  await Promise.race([Promise.all(each), ended.promise])
  for (const timer of timers) clearTimeout(timer)
  return [...answers]
}

async function ask<T>(node: NodeClient, { method, params, read }: Call<T>): Promise<NodeAnswer<T>> {
  const { name } = node.spec
  try {
    if (!node.up) await node.check()
    if (!node.up) throw new TransportError(node.origin, 'of another network, removed or paused', false)
    return { name, ok: true, result: await node.ask(method, params, read) }
  } catch (error) {
    return { name, ok: false, error: error as RpcError | TransportError }
  }
}

/**
 * Time (ms) after which a failed round is repeated, so that one reset connection does not make a call to a lone node
 * fail.
 */
const secondRoundMs = 150

function createAskOne(chain: string, readers: () => readonly NodeClient[], timeoutMs: number, closing: AbortSignal) {
  async function round<T>({ method, params, read }: Call<T>, problems: Error[]): Promise<{ result: T } | undefined> {
    if (!readers().some(({ up }) => up)) await revive(readers(), problems)
    const tried = new Set<NodeClient>()
    for (;;) {
      const node = choose(readers().filter((candidate) => candidate.up && !tried.has(candidate)))
      if (!node) return undefined
      tried.add(node)
      if (node.limiter.waitMs > timeoutMs) {
        problems.push(new Error(`${node.origin}: over its ${node.spec.requestsPerSecond} requests per second`))
        continue
      }
      try {
        return { result: await node.ask(method, params, read) }
      } catch (error) {
        problems.push(error as Error)
        if (executesContracts(method) && isVerdict(error)) throw error
      }
    }
  }

  return async function askOne<T>(call: Call<T>): Promise<T> {
    const problems: Error[] = []
    for (const isFirst of [true, false]) {
      const answer = await round(call, problems)
      if (answer) return answer.result
      const refusal = refusalOf(problems)
      if (refusal) throw refusal
      if (isFirst) await pause(secondRoundMs, closing)
      if (closing.aborted) break
    }
    throw unavailable(chain, problems)
  }
}

async function revive(nodes: readonly NodeClient[], problems: Error[]): Promise<void> {
  const checks = nodes.filter(({ revivable }) => revivable).map((node) => node.check())
  if (checks.length === 0) problems.push(...nodes.map(({ origin }) => new Error(`${origin}: failed; paused`)))
  await Promise.any(checks).catch((error: AggregateError) => problems.push(...(error.errors as Error[])))
}

/**
 * Prefers nodes of the config, then nodes that execute calls in time, then a short wait for the rate limit, then nodes
 * that do not lag.
 */
function choose(candidates: readonly NodeClient[]): NodeClient | undefined {
  const added = ({ spec }: NodeClient) => Number(spec.added ?? false)
  const lags = ({ lag = 0 }: NodeClient) => Number(lag > mostLag)
  const rated = candidates.map((node) => ({ node, waitMs: node.limiter.waitMs, slow: Number(node.isSlow()) }))
  return rated.sort((a, b) => added(a.node) - added(b.node) || a.slow - b.slow || a.waitMs - b.waitMs || lags(a.node) - lags(b.node))[0]
    ?.node
}

/** Returns NODE_REFUSED if a node refused the call or gave a malformed answer, otherwise NODE_UNAVAILABLE. */
export function noAnswer(chain: string, answers: readonly NodeAnswer<unknown>[]): RelayerError {
  const errors = answers.flatMap((answer) => (answer.ok ? [] : [answer.error]))
  return refusalOf(errors) ?? unavailable(chain, errors)
}

function refusalOf(problems: readonly Error[]): RelayerError | undefined {
  const refusal = problems.findLast((problem) => problem instanceof RpcError || problem instanceof MalformedAnswer)
  return refusal instanceof MalformedAnswer ? refusal.refusal : refusal
}

function unavailable(chain: string, problems: readonly Error[]): RelayerError {
  const reasons = [...new Set(problems.map((problem) => problem.message))].join('; ')
  return new RelayerError('NODE_UNAVAILABLE', { detail: reasons || 'The chain is not connected.', facts: { chain } })
}
