import type { Entry, LaneAnswer, LaneCounts, LaneState, Owner, Refusal } from './lane.ts'
import { worstCost } from '../fees/fees.ts'

/**
 * Nonces that are kept until they are final. Where finality is far they are many more than the window; beyond this the state (some 600 bytes
 * each) would come near to the server's limit of 2 MiB, and the lane waits for finality instead.
 */
export const entriesLimit = 1_000

/** What a request leads to. */
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
  // Far apart only after a node's nonsense; the keys of entries come in order, too.
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

/** What the dearest of its attempts may cost, wei: any of them may be the one that is mined. */
export function entryCost(entry: Entry): bigint {
  const value = BigInt(entry.owner?.value ?? entry.value ?? '0')
  return entry.attempts.map((one) => worstCost(one) + (one.kind === 'call' ? value : 0n)).reduce((a, b) => (a > b ? a : b), 0n)
}

export function ofIntent(state: LaneState, intentId: string): Entry | undefined {
  return Object.values(state.entries).find((entry) => entry.owner?.intentId === intentId)
}

/**
 * The nonce that the same owner holds for the same call in a later round. Who asks for an earlier one began anew (its workflow was terminated or
 * reset), or is a zombie: neither may have a second nonce. The first comes to that round by itself, since each before it is refused.
 */
export function laterRound(state: LaneState, { workflowId, callHash, intentId }: Owner): Entry | undefined {
  const round = roundOf(intentId)
  return unmined(state).find(({ owner, fill }) => {
    return !fill && owner?.workflowId === workflowId && owner.callHash === callHash && roundOf(owner.intentId) > round
  })
}

/** Of `${workflowId}/${round}`; 0 where it is none. */
function roundOf(intentId: string): number {
  return Number(/[/]([0-9]+)$/.exec(intentId)?.[1] ?? 0)
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
