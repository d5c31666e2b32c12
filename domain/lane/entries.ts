import { worstCost } from '../fees/fees.ts'
import { roundOf, workflowOf } from './intent-id.ts'
import type { Entry, LaneCounts, LaneState } from './lane.ts'
import type { LaneAnswer, Refusal } from './messages.ts'

/** Most nonces kept until they are final; beyond it the lane waits for finality. With three attempts each, the state has 620 KB, of 2 MiB that the server takes. */
export const entriesLimit = 1_000

/** The ledger after one request, and the answer. */
export interface Step {
  readonly state: LaneState
  readonly answer: LaneAnswer
}

/** Unmined nonces that were handed out: what the window counts. */
export function inFlight(state: LaneState): number {
  return Math.max(0, state.next - (state.observed?.latest ?? state.next))
}

/** In order of nonce. Looks at the window only: where finality is far, a thousand mined entries may lie below it. */
export function unmined(state: LaneState): Entry[] {
  const latest = state.observed?.latest ?? 0
  // So far apart only after a node told nonsense. The keys of entries come in order, too.
  if (state.next - latest > entriesLimit) return Object.values(state.entries).filter(({ nonce }) => nonce >= latest)
  const result: Entry[] = []
  for (let nonce = latest; nonce < state.next; nonce++) {
    const entry = state.entries[nonce]
    if (entry) result.push(entry)
  }
  return result
}

export function isMined(state: LaneState, { nonce }: Entry): boolean {
  return nonce < (state.observed?.latest ?? 0)
}

/** Given back unsigned, and no no-op recorded for it since. */
export function reusable(entry: Entry): boolean {
  return entry.fill === 'released' && entry.attempts.length === 0
}

/** Cost of the dearest of its attempts, wei: any of them may be the one that is mined. */
export function entryCost(entry: Entry): bigint {
  const value = BigInt(entry.owner?.value ?? entry.value ?? '0')
  return entry.attempts.map((one) => worstCost(one) + (one.kind === 'call' ? value : 0n)).reduce((a, b) => (a > b ? a : b), 0n)
}

export function ofIntent(state: LaneState, intentId: string): Entry | undefined {
  return Object.values(state.entries).find((entry) => entry.owner?.intentId === intentId)
}

/** The intent whose call may be mined with this nonce: its owner, or the one that abandoned it. */
export function intentOf({ owner, abandonedBy }: Entry): string | undefined {
  return owner?.intentId ?? abandonedBy
}

/**
 * The nonce that the same workflow holds for the same call in a later round. A request for an earlier round comes from a workflow that began anew, or
 * from a zombie: neither may have a second nonce. A restarted workflow reaches the later round by itself, since each round before it is refused.
 */
export function laterRound(state: LaneState, intentId: string, callHash: string): Entry | undefined {
  const [workflow, round] = [workflowOf(intentId), roundOf(intentId)]
  return unmined(state).find(({ owner, fill }) => {
    return !fill && owner?.callHash === callHash && workflowOf(owner.intentId) === workflow && roundOf(owner.intentId) > round
  })
}

export function put(state: LaneState, entry: Entry): LaneState {
  return { ...state, entries: { ...state.entries, [entry.nonce]: entry } }
}

export function refuse(state: LaneState, why: Refusal, detail: string): Step {
  return { state, answer: { kind: 'refused', why, detail } }
}

export function done(state: LaneState): Step {
  return { state, answer: { kind: 'done' } }
}

export function without(state: LaneState, ...keys: readonly ('paused' | 'closing' | 'broke' | 'replaced')[]): LaneState {
  const rest = { ...state }
  for (const key of keys) delete rest[key]
  return rest
}

export function count(state: LaneState, what: keyof LaneCounts): LaneState {
  return { ...state, counts: { ...state.counts, [what]: state.counts[what] + 1 } }
}
