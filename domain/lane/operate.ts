import { type Entry, type LaneConfig, type LaneState, newLane } from './lane.ts'
import type { LaneOrder } from './messages.ts'
import { done, put, refuse, without, type Step } from './entries.ts'
import { reviewFunds } from './funds.ts'
import { fill } from './withdraw.ts'

/** Applies an order. Each is idempotent. */
export function operate(state: LaneState, order: LaneOrder): Step {
  switch (order.kind) {
    case 'pause':
      return done({ ...state, paused: order.pause })
    case 'resume':
      return done(without(state, 'paused'))
    case 'drain':
    case 'forbid':
      return done({ ...state, closing: { mode: order.kind === 'drain' ? 'draining' : 'forbidden', reason: order.reason } })
    case 'activate':
      return done(without(state, 'paused', 'closing'))
    case 'setWindow':
      // Operators type it into a signal: `"8"`, null or -1 would open the window for good or shut it.
      if (!Number.isSafeInteger(order.window) || order.window < 0) return refuse(state, 'conflict', 'the window is a whole number')
      return done({ ...state, config: { ...state.config, window: order.window } })
    case 'resync':
      return done({ ...state, synced: false })
    case 'cancelNonce':
      return atUnmined(state, order.nonce, () => done(fill(state, order.nonce, 'cancelled')))
    case 'replace':
      return atUnmined(state, order.nonce, (entry) => {
        const { maxFee, tip } = order
        const raise = { after: entry.attempts.length, ...(maxFee && { maxFee }), ...(tip && { tip }) }
        return done(put(state, { ...entry, raise }))
      })
    case 'configure':
      return done(configure(state, order.config))
    case 'replaced':
      return done(replaced(state, order.block))
    case 'reset':
      return reset(state)
  }
}

/** An operator's fill of a nonce without an owner, at once. */
export function fillUnowned(state: LaneState, nonce: number): Step {
  return atUnmined(state, nonce, (entry) => {
    const { owner } = entry
    if (owner) return refuse(state, 'conflict', `nonce ${nonce} belongs to ${owner.intentId}; cancel-nonce takes it away from its owner`)
    // It stays inherited: until it is mined, no intent may be told that its call can't be.
    if (entry.fill === 'inherited') return done(put(state, { ...entry, sinceBlock: entry.sinceBlock - state.config.fillAfterBlocks }))
    return done(put(state, { ...entry, fill: 'operator', maybeSent: true }))
  })
}

function atUnmined(state: LaneState, nonce: number, change: (entry: Entry) => Step): Step {
  const { entries, next } = state
  const entry = entries[nonce]
  if (nonce < (state.observed?.latest ?? 0)) return refuse(state, 'none', `nonce ${nonce} is in a block`)
  if (entry) return change(entry)
  const detail = nonce >= next ? `nonce ${nonce} was not given yet; the next one is ${next}` : `nonce ${nonce} is not in the ledger`
  return refuse(state, 'none', detail)
}

/** The config's window is taken when the config changed it; else the window that an operator set stays. */
function configure(state: LaneState, told: LaneConfig): LaneState {
  const window = state.configured.window === told.window ? state.config.window : told.window
  return reviewFunds({ ...state, configured: told, config: { ...told, lane: state.config.lane, window } })
}

/** Believed only of the block that the ledger knows as final: a process with an old view must not halt a lane that was reset. */
function replaced(state: LaneState, { height, hash }: { height: number; hash: string }): LaneState {
  const known = state.observed?.final
  return known?.height === height && known.hash === hash ? { ...state, replaced: { height, hash } } : state
}

/** Pause, closing, tombstones and counts stay; nonces and observations go. */
function reset(state: LaneState): Step {
  const { final } = state.observed ?? {}
  if (!state.replaced && final) {
    return refuse(state, 'conflict', `the chain still has block ${final.height}, which this lane saw: it was not replaced`)
  }
  const { config, configured, paused, closing, tombstones, counts, era } = state
  return done({ ...newLane(config), configured, ...(paused && { paused }), ...(closing && { closing }), tombstones, counts, era: era + 1 })
}
