import { pause } from '../../../runtime/wait.ts'
import type { NodeClient } from './node-client.ts'
import { isVerdict, MalformedAnswer, type ReadAnswer, RpcError, TransportError } from './node-errors.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { mostLag } from '../../heads.ts'

/** How long to wait for the other nodes once one node has answered, ms (as in chainlink-evm). */
const graceMs = 5_000

/** `node` is the origin of the node's URL. */
export type NodeAnswer<T> =
  | { readonly node: string; readonly name: string; readonly ok: true; readonly result: T }
  | { readonly node: string; readonly name: string; readonly ok: false; readonly error: RpcError | TransportError }

/** Called for each answer. Returns true to end the wait. */
export type OnAnswer<T> = (answer: NodeAnswer<T>, answers: readonly NodeAnswer<T>[]) => boolean

export interface Call<T> {
  readonly method: string
  readonly params: readonly unknown[]
  readonly read: ReadAnswer<T>
}

export function resultsOf<T>(answers: readonly NodeAnswer<T>[]): T[] {
  return answers.flatMap((answer) => (answer.ok ? [answer.result] : []))
}

/**
 * Asks all nodes in parallel until all have answered, `onAnswer` returns true, or the grace is over. Never throws.
 * @param mostGraceMs if given, the call also ends this long after `needed` nodes have answered
 */
export async function askMany<T>(
  nodes: readonly NodeClient[],
  call: Call<T>,
  timeoutMs: number,
  onAnswer?: OnAnswer<T>,
  mostGraceMs?: number,
  needed = 1,
): Promise<NodeAnswer<T>[]> {
  const answers: NodeAnswer<T>[] = []
  const ended = new AbortController()
  const end = () => ended.abort()
  const endAfter = (ms: number) => void pause(Math.min(ms, timeoutMs), ended.signal).then(end)
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
  await Promise.race([Promise.all(each), pause(Infinity, ended.signal)])
  end()
  return [...answers]
}

async function ask<T>(node: NodeClient, { method, params, read }: Call<T>): Promise<NodeAnswer<T>> {
  const who = { node: node.origin, name: node.spec.name }
  try {
    if (!node.up) await node.check()
    if (!node.up) throw new TransportError(node.origin, 'of another network, or removed', false)
    return { ...who, ok: true, result: await node.ask(method, params, read) }
  } catch (error) {
    return { ...who, ok: false, error: error as RpcError | TransportError }
  }
}

/** Pause before nodes are tried again, ms, so that one reset connection does not fail a call to the only node. */
const secondRoundMs = 150

/** See `Nodes.request`. `readers` are in the current order of preference. */
export function createAskOne(chain: string, readers: () => readonly NodeClient[], timeoutMs: number, closing: AbortSignal) {
  async function round<T>({ method, params, read }: Call<T>, problems: Error[]): Promise<{ result: T } | undefined> {
    if (!readers().some(({ up }) => up)) await revive(readers(), problems)
    const tried = new Set<NodeClient>()
    for (;;) {
      const node = choose(readers().filter((candidate) => candidate.up && !tried.has(candidate)))
      if (!node) return undefined
      tried.add(node)
      if (node.waitMs > timeoutMs) {
        problems.push(new Error(`${node.origin}: over its ${node.spec.requestsPerSecond} requests per second`))
        continue
      }
      try {
        return { result: await node.ask(method, params, read) }
      } catch (error) {
        problems.push(error as Error)
        // Any other error concerns only this node, so the loop goes on to the next node.
        if (executing.has(method) && isVerdict(error)) throw error
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

/** Probes the nodes when none is up, but respects the pause that a node asked for (Retry-After). */
async function revive(nodes: readonly NodeClient[], problems: Error[]): Promise<void> {
  const checks = nodes.filter(({ revivable }) => revivable).map((node) => node.check())
  if (checks.length === 0) problems.push(...nodes.map(({ origin }) => new Error(`${origin}: failed; paused`)))
  await Promise.any(checks).catch((error: AggregateError) => problems.push(...(error.errors as Error[])))
}

/**
 * Takes the node of the config with the shortest rate-limit wait. Of equal waits it takes a node that does not lag, in
 * the order of preference. An added node is taken only if no node of the config is left.
 */
function choose(candidates: readonly NodeClient[]): NodeClient | undefined {
  const added = ({ spec }: NodeClient) => Number(spec.added ?? false)
  const lags = ({ lag = 0 }: NodeClient) => Number(lag > mostLag)
  const rated = candidates.map((node) => ({ node, waitMs: node.waitMs }))
  return rated.sort((a, b) => added(a.node) - added(b.node) || a.waitMs - b.waitMs || lags(a.node) - lags(b.node))[0]?.node
}

/** Methods that run contract code, for which every honest node reports the same result. */
const executing = new Set(['eth_call', 'eth_estimateGas'])

/** NODE_REFUSED if a node refused or gave a malformed answer, else NODE_UNAVAILABLE. */
export function noAnswer(chain: string, answers: readonly NodeAnswer<unknown>[]): RelayerError {
  const errors = answers.flatMap((answer) => (answer.ok ? [] : [answer.error]))
  return refusalOf(errors) ?? unavailable(chain, errors)
}

function refusalOf(problems: readonly Error[]): RelayerError | undefined {
  const refusal = problems.findLast((problem) => problem instanceof RpcError || problem instanceof MalformedAnswer)
  return refusal instanceof MalformedAnswer ? refusal.refusal : refusal
}

export function unavailable(chain: string, problems: readonly Error[]): RelayerError {
  const reasons = [...new Set(problems.map((problem) => problem.message))].join('; ')
  return new RelayerError('NODE_UNAVAILABLE', { detail: reasons || 'The chain is not connected.', facts: { chain } })
}
