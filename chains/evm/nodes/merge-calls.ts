import { type ContractCall, groupsOf, mergedData, readMerged } from './merged-call.ts'
import { MalformedAnswer, RpcError } from './node-errors.ts'

/** A call of JSON-RPC that waits for its answer. */
export interface PendingCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** A node that refused a merged call gets none for so long, ms; each time in a row twice as long. */
const pauseMs = 60_000
const longestPauseMs = 64 * pauseMs

interface Mergeable {
  readonly pending: PendingCall
  readonly call: ContractCall
}

/**
 * Puts reads of contracts at the same block that leave together into one `eth_call` each (merged-call.ts). The node says as much, or as little, as it would to each of
 * them: what failed, and all of what is no answer, is asked again one by one (`send`). `now`: ms, monotonic.
 */
export function createCallMerger(send: (calls: readonly PendingCall[]) => void, nextId: () => number, now: () => number) {
  let pausedUntil = -Infinity
  let refusals = 0

  function refused(): void {
    pausedUntil = now() + Math.min(longestPauseMs, pauseMs * 2 ** refusals)
    refusals++
  }

  /** It was the merging if one of them has an answer; a node that lags, or does not know the block, has none either way. */
  function sendEach(calls: readonly PendingCall[]): void {
    let isKnown = false
    const noted = (one: PendingCall): PendingCall => ({
      ...one,
      resolve(result) {
        if (!isKnown) refused()
        isKnown = true
        one.resolve(result)
      },
    })
    send(calls.map(noted))
  }

  function merge(group: readonly Mergeable[], block: unknown): PendingCall {
    const all = group.map(({ pending }) => pending)
    return {
      id: nextId(),
      method: 'eth_call',
      params: [{ data: mergedData(group.map(({ call }) => call)) }, block],
      resolve(result) {
        const returned = readMerged(result, group.length)
        if (!returned) return sendEach(all)
        refusals = 0
        returned.forEach((bytes, index) => bytes !== undefined && all[index]?.resolve(bytes))
        send(all.filter((_, index) => returned[index] === undefined))
      },
      reject(error) {
        const isLimited = error instanceof RpcError && error.limited
        if (!isLimited && (error instanceof RpcError || error instanceof MalformedAnswer)) return sendEach(all)
        // It asks for fewer calls of any kind; or is away, and the next node is asked at once. Or a gateway let the call not through.
        if (!isLimited) refused()
        for (const { reject } of all) reject(error)
      },
    }
  }

  return function merged(calls: readonly PendingCall[]): readonly PendingCall[] {
    if (now() < pausedUntil) return calls
    const { others, byBlock } = sorted(calls)
    const groups = [...byBlock].flatMap(([block, reads]) => groupsOf(reads).map((group) => ({ block, group })))
    return [
      ...others,
      ...groups.flatMap(({ block, group }) => (group.length > 1 ? [merge(group, block)] : group.map(({ pending }) => pending))),
    ]
  }
}

/** Reads of contracts by the block that they look at, and all other calls. */
function sorted(calls: readonly PendingCall[]) {
  const others: PendingCall[] = []
  const byBlock = new Map<unknown, Mergeable[]>()
  for (const pending of calls) {
    const call = contractCallOf(pending)
    const block = pending.params[1]
    const reads = byBlock.get(block) ?? []
    if (!call) others.push(pending)
    else if (reads.push({ pending, call }) === 1) byBlock.set(block, reads)
  }
  return { others, byBlock }
}

/** Undefined: it is another kind of call, or says more than what to call. */
function contractCallOf({ method, params }: PendingCall): ContractCall | undefined {
  if (method !== 'eth_call' || params.length !== 2 || typeof params[1] !== 'string') return undefined
  const { to, data, ...more } = (params[0] ?? {}) as Record<string, unknown>
  if (typeof to !== 'string' || typeof data !== 'string' || Object.keys(more).length > 0) return undefined
  return /^0x[0-9a-f]{40}$/i.test(to) && /^0x(?:[0-9a-f]{2})*$/i.test(data) ? { to, data } : undefined
}
