import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { pause } from '../../../runtime/wait.ts'
import { mostLag } from '../../heads.ts'
import type { Call, NodeAnswer } from './ask-many.ts'
import type { NodeClient } from './node-client.ts'
import { isVerdict, MalformedAnswer, RpcError } from './node-errors.ts'

/** Ms before the second round: one reset of an idle connection must not fail a call to the only node. */
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
        // Any other error concerns this node only: the next one is asked.
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

/** Probes nodes where none is up, but keeps the pauses a node asked for (Retry-After). */
async function revive(nodes: readonly NodeClient[], problems: Error[]): Promise<void> {
  const checks = nodes.filter(({ revivable }) => revivable).map((node) => node.check())
  if (checks.length === 0) problems.push(...nodes.map(({ origin }) => new Error(`${origin}: failed; paused`)))
  await Promise.any(checks).catch((error: AggregateError) => problems.push(...(error.errors as Error[])))
}

/** By wait for the rate limit, then lagging nodes last, then preference. */
function choose(candidates: readonly NodeClient[]): NodeClient | undefined {
  const lags = ({ lag = 0 }: NodeClient) => Number(lag > mostLag)
  const rated = candidates.map((node) => ({ node, waitMs: node.waitMs }))
  return rated.sort((a, b) => a.waitMs - b.waitMs || lags(a.node) - lags(b.node))[0]?.node
}

/** Methods that run contract code: every honest node reports the same result. */
const executing = new Set(['eth_call', 'eth_estimateGas'])

/** A refusal or malformed answer is NODE_REFUSED, else NODE_UNAVAILABLE. */
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
