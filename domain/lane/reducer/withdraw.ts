import { fnv1a } from '../../hash.ts'
import type { Entry, LaneState } from '../lane.ts'
import { isMined, ofIntent, put, unmined, type Step } from '../entries.ts'

/** Most tombstones: a closing lane turns away hundreds, and a zombie asks within its activity's time-outs. */
const tombstoneLimit = 1_024

/** A lane with a nonce and no report for this time, ms, has no process. Live ones report every few seconds. */
export const withoutWorkerMs = 30_000

/** @param now ms since the epoch */
export function withdraw(state: LaneState, intentId: string, how: 'leave' | 'cancel' | 'abandon', now: number): Step {
  const entry = ofIntent(state, intentId)
  if (!entry) {
    const unknown = how === 'cancel' ? inheritedNonce(state) : undefined
    return { state: bury(state, intentId), answer: unknown === undefined ? { kind: 'free' } : { kind: 'held', nonce: unknown } }
  }
  const held = { kind: 'held', nonce: entry.nonce } as const
  // The tombstone outlives the entry, so a zombie that asks after the no-op is final gets nothing.
  if (how === 'cancel') return { state: fill(bury(state, intentId), entry.nonce, 'cancelled'), answer: held }
  const mayLeave = state.closing?.mode === 'forbidden' || now - (state.observed?.at ?? 0) > withoutWorkerMs
  // Transactions of a replaced chain cannot be mined before the lane is reset.
  const free = state.replaced !== undefined || (how === 'abandon' && !isMined(state, entry) && mayLeave)
  return free ? { state: put(bury(state, intentId), orphan(entry)), answer: { kind: 'free' } } : { state, answer: held }
}

export function fill(state: LaneState, nonce: number, reason: NonNullable<Entry['fill']>): LaneState {
  const entry = state.entries[nonce]
  if (!entry || entry.fill) return state
  return put(state, { ...entry, fill: reason, maybeSent: true })
}

export function isWithdrawn({ tombstones }: LaneState, intentId: string): boolean {
  return tombstones.includes(tombstone(intentId))
}

/** An entry without its owner. Its call may still win against the no-op, so its value still counts. */
function orphan({ owner, ...rest }: Entry): Entry {
  return {
    ...rest,
    ...(owner?.value && { value: owner.value }),
    ...(owner && { callHash: owner.callHash, abandonedBy: owner.intentId }),
    fill: rest.fill ?? 'abandoned',
    maybeSent: true,
  }
}

/** The lowest nonce that an earlier ledger may have granted to anyone, and that may still be mined. */
function inheritedNonce(state: LaneState): number | undefined {
  if (!state.synced) return state.next
  return unmined(state).find((entry) => !entry.owner && entry.fill === 'inherited')?.nonce
}

function bury(state: LaneState, intentId: string): LaneState {
  const one = tombstone(intentId)
  return { ...state, tombstones: [...state.tombstones.filter((other) => other !== one), one].slice(-tombstoneLimit) }
}

/** 64 bits of the id (FNV-1a), base 36, to save room. On a collision the second intent tries another round. */
export function tombstone(intentId: string): string {
  return `${fnv1a(intentId).toString(36)}-${fnv1a(intentId, 0x2f0b4c47).toString(36)}`
}
