import { type ContractCall, groupsOf, mergedData, readMerged } from './merged-call.ts'
import { MalformedAnswer, RpcError } from './node-errors.ts'

export interface PendingCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** Pause after a node refused merged calls, ms. Doubles with each refusal in a row. */
const pauseMs = 60_000
const longestPauseMs = 64 * pauseMs

interface Mergeable {
  readonly pending: PendingCall
  readonly call: ContractCall
}

/** Merges contract reads at one block into one `eth_call`. Failed reads are sent again singly. `now`: monotonic ms. */
export function createCallMerger(send: (calls: readonly PendingCall[]) => void, nextId: () => number, now: () => number) {
  let pausedUntil = -Infinity
  let refusals = 0

  function refused(): void {
    pausedUntil = now() + Math.min(longestPauseMs, pauseMs * 2 ** refusals)
    refusals++
  }

  /** If one of these calls succeeds, the merging was the problem. */
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
        // A rate limit concerns all calls. Otherwise a gateway may have refused the merged call.
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

function contractCallOf({ method, params }: PendingCall): ContractCall | undefined {
  if (method !== 'eth_call' || params.length !== 2 || typeof params[1] !== 'string') return undefined
  const { to, data, ...more } = (params[0] ?? {}) as Record<string, unknown>
  if (typeof to !== 'string' || typeof data !== 'string' || Object.keys(more).length > 0) return undefined
  return /^0x[0-9a-f]{40}$/i.test(to) && /^0x(?:[0-9a-f]{2})*$/i.test(data) ? { to, data } : undefined
}
