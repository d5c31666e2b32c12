import { setTimeout as sleep } from 'node:timers/promises'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { NodeClient } from './node-client.ts'
import type { Call, NodeAnswer } from './ask-many.ts'
import { isVerdict, MalformedAnswer, RpcError } from './node-errors.ts'

/** chainlink-evm SyncThreshold: a node more blocks than this behind the head of the majority is asked last. */
export const mostLag = 5
/** A reset of an idle connection must not fail a call where there is only one node: a second round follows, ms later. */
const secondRoundMs = 150

/** See `Nodes.request`; `readers` are in order of preference, as they are now. */
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
        // Any other error is this node's own: the next one is asked.
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
      if (isFirst && !closing.aborted) await sleep(secondRoundMs, undefined, { signal: closing }).catch(() => undefined)
      if (closing.aborted) break
    }
    throw unavailable(chain, problems)
  }
}

/** Brings back any of these nodes where none is up: no pause counts then, except one that a node asked for. */
async function revive(nodes: readonly NodeClient[], problems: Error[]): Promise<void> {
  const checks = nodes.filter(({ revivable }) => revivable).map((node) => node.check())
  if (checks.length === 0) problems.push(...nodes.map(({ origin }) => new Error(`${origin}: failed, and is left alone for now`)))
  await Promise.any(checks).catch((error: AggregateError) => problems.push(...(error.errors as Error[])))
}

/** In order of preference, those that lag last; one that is over its rate only if all are. */
function choose(candidates: readonly NodeClient[]): NodeClient | undefined {
  const lags = ({ lag = 0 }: NodeClient) => Number(lag > mostLag)
  const rated = candidates.map((node) => ({ node, waitMs: node.waitMs }))
  return rated.sort((a, b) => a.waitMs - b.waitMs || lags(a.node) - lags(b.node))[0]?.node
}

/** Methods that run the code of contracts: how that ended is the same everywhere. */
const executing = new Set(['eth_call', 'eth_estimateGas'])

/** Why a question to all nodes has no answer: what a node refused it with, or what was malformed (NODE_REFUSED), else NODE_UNAVAILABLE. */
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
