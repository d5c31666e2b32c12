import type { LaneConfig, LaneOrder, LaneState } from './lane.ts'
import { newLane } from './lane.ts'
import { done, isMined, put, refuse, without } from './entries.ts'
import type { Step } from './entries.ts'
import { reviewFunds } from './funds.ts'
import { fill } from './withdraw.ts'

/** What operators order, and what processes tell that is no observation. Each is idempotent. */
export function operate(state: LaneState, order: LaneOrder): Step {
  switch (order.kind) {
    case 'pause':
      return done({ ...state, paused: { reason: order.reason } })
    case 'resume':
      return done(without(state, 'paused'))
    case 'drain':
      return done({ ...state, closing: { mode: 'draining', reason: order.reason } })
    case 'forbid':
      return done({ ...state, closing: { mode: 'forbidden', reason: order.reason } })
    case 'activate':
      return done(without(state, 'paused', 'closing'))
    case 'setWindow':
      // Operators signal it by hand: `"8"`, null or -1 would open the window for good or shut it.
      if (!Number.isSafeInteger(order.window) || order.window < 0) return refuse(state, 'conflict', 'the window is a whole number')
      return done({ ...state, configured: state.configured ?? state.config, config: { ...state.config, window: order.window } })
    case 'resync':
      return done({ ...state, synced: false })
    case 'cancelNonce':
      return cancelNonce(state, order.nonce)
    case 'replace':
      return replace(state, order)
    case 'configure':
      return done(configure(state, order.config))
    case 'replaced':
      return done(replaced(state, order.block))
    case 'reset':
      return reset(state)
  }
}

/** An operator's fill: of what is nobody's, at once. */
export function fillUnowned(state: LaneState, nonce: number): Step {
  const entry = state.entries[nonce]
  if (!entry || isMined(state, entry)) return refuse(state, 'none', unknownNonce(state, nonce))
  if (entry.owner)
    return refuse(state, 'conflict', `nonce ${nonce} is of ${entry.owner.intentId}: cancel-nonce takes it away from its owner`)
  // What an earlier ledger left stays so: until it is mined, nobody may be told that nothing of theirs can be.
  if (entry.fill === 'inherited') return done(put(state, { ...entry, sinceBlock: entry.sinceBlock - state.config.fillAfterBlocks }))
  return done(put(state, { ...entry, fill: 'operator', maybeSent: true }))
}

function cancelNonce(state: LaneState, nonce: number): Step {
  const entry = state.entries[nonce]
  if (!entry || isMined(state, entry)) return refuse(state, 'none', unknownNonce(state, nonce))
  return done(fill(state, nonce, 'cancelled'))
}

function replace(state: LaneState, { nonce, maxFee, tip }: Extract<LaneOrder, { kind: 'replace' }>): Step {
  const entry = state.entries[nonce]
  if (!entry || isMined(state, entry)) return refuse(state, 'none', unknownNonce(state, nonce))
  const raise = { after: entry.attempts.length, ...(maxFee && { maxFee }), ...(tip && { tip }) }
  return done(put(state, { ...entry, raise }))
}

function unknownNonce({ next, observed }: LaneState, nonce: number): string {
  if (nonce < (observed?.latest ?? 0)) return `nonce ${nonce} is in a block`
  return nonce >= next ? `nonce ${nonce} was not given yet; the next one is ${next}` : `nonce ${nonce} is not in the ledger`
}

/** The config's window is taken when the config changed it; else what an operator set stays. */
function configure(state: LaneState, told: LaneConfig): LaneState {
  const before = state.configured
  const window = before && before.window === told.window ? state.config.window : told.window
  return reviewFunds({ ...state, configured: told, config: { ...told, lane: state.config.lane, window } })
}

/** Believed only of the block that the ledger holds for final: a process with an old view must not halt a lane that was reset. */
function replaced(state: LaneState, { height, hash }: { height: number; hash: string }): LaneState {
  const known = state.observed?.final
  return known?.height === height && known.hash === hash ? { ...state, replaced: { height, hash } } : state
}

/** What closes the lane, whom it let go and what it counted stays; nonces and what was seen go. */
function reset(state: LaneState): Step {
  const { final } = state.observed ?? {}
  if (!state.replaced && final) {
    return refuse(state, 'conflict', `the chain has not denied block ${final.height}, which this lane saw: nothing was replaced`)
  }
  const { config, configured = config, paused, closing, tombstones, counts, era = 0 } = state
  return done({ ...newLane(config), configured, ...(paused && { paused }), ...(closing && { closing }), tombstones, counts, era: era + 1 })
}
