import { setTimeout as sleep } from 'node:timers/promises'
import { RelayerError } from '../../../domain/errors.ts'
import type { NodeClient } from './node-client.ts'
import { RpcError } from './node-errors.ts'

/** chainlink-evm SyncThreshold: a node more blocks than this behind the best is asked last. */
const mostLag = 5
/** A reset of an idle connection must not fail a call where there is only one node: a second round follows, ms later. */
const secondRoundMs = 150

/** See `Nodes.request`; `readers` are in order of preference, as they are now. */
export function createAskOne(chain: string, readers: () => readonly NodeClient[], timeoutMs: number, closing: AbortSignal) {
  async function round(method: string, params: readonly unknown[], problems: Error[]): Promise<{ result: unknown } | undefined> {
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
        return { result: await node.ask(method, params) }
      } catch (error) {
        problems.push(error as Error)
        if (error instanceof RpcError && !mayDiffer(error)) throw error
      }
    }
  }

  return async function askOne(method: string, params: readonly unknown[]): Promise<unknown> {
    const problems: Error[] = []
    for (const isFirst of [true, false]) {
      const answer = await round(method, params, problems)
      if (answer) return answer.result
      const refusal = problems.findLast((problem) => problem instanceof RpcError)
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

/** Could another node answer better? Yes for limits, methods and states that this one does not serve, and internal errors; a revert is the same everywhere. */
function mayDiffer(error: RpcError): boolean {
  const message = error.rpcMessage.toLowerCase()
  if (message.includes('revert')) return false
  if (error.limited || [-32005, -32601, -32004, -32603].includes(error.rpcCode ?? 0)) return true
  return /header not found|unknown block|block not found|missing trie node|outofrange|not available|pruned|syncing/.test(message)
}

export function unavailable(chain: string, problems: readonly Error[]): RelayerError {
  const reasons = [...new Set(problems.map((problem) => problem.message))].join('; ')
  return new RelayerError('NODE_UNAVAILABLE', { detail: reasons || 'The chain is not connected.', facts: { chain } })
}
