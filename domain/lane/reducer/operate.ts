import { type Entry, type LaneConfig, type LaneState, newLane, type PauseReason } from '../lane.ts'
import type { LaneOrder, LaneRequest } from '../messages.ts'
import { orderFacts, orderOf, withOrder } from '../../order.ts'
import { done, put, refuse, without, type Step, reviewFunds } from '../entries.ts'
import { fill } from './grant.ts'

type Fill = Extract<LaneRequest, { kind: 'fill' }>

export function obey(state: LaneState, order: LaneOrder | Fill, now: number): Step {
  const step = order.kind === 'fill' ? fillUnowned(state, order.nonce) : operate(state, order, now)
  if (order.kind === 'configure' || order.kind === 'replaced' || step.answer.kind !== 'done' || step.state === state) return step
  const record = { kind: order.kind, ...orderOf(order, 'update'), at: now, ...orderFacts(factsOf(order)) }
  return { ...step, state: { ...step.state, orders: withOrder(step.state.orders, record) } }
}

function factsOf(order: LaneOrder | Fill): Parameters<typeof orderFacts>[0] {
  switch (order.kind) {
    case 'fill':
    case 'cancelNonce':
    case 'republish':
      return { nonce: order.nonce }
    case 'replace':
      return { nonce: order.nonce, maxFee: order.maxFee, tip: order.tip }
    case 'setWindow':
      return { window: order.window }
    default:
      return {}
  }
}

function operate(state: LaneState, order: LaneOrder, now: number): Step {
  switch (order.kind) {
    case 'pause':
      return done(pause(state, order.pause, orderOf(order).by))
    case 'resume':
      // If the pause is of another kind, it stays: a process with an old view must not end a newer pause.
      return done(order.only !== undefined && state.paused?.kind !== order.only ? state : without(state, 'paused'))
    case 'drain':
    case 'forbid': {
      const mode = order.kind === 'drain' ? 'draining' : 'forbidden'
      return done({ ...state, closing: { mode, reason: order.reason, by: orderOf(order).by } })
    }
    case 'activate':
      return done(without(state, 'paused', 'closing'))
    case 'setWindow':
      // A signal that a person types may have a window of `"8"`, null or -1.
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
    case 'republish': {
      const { nonce } = order
      const wanted = () => done({ ...state, republish: { at: now, ...(nonce !== undefined && { nonce }) } })
      return nonce === undefined ? wanted() : atUnmined(state, nonce, wanted)
    }
    case 'configure':
      return done(configure(state, order.config, now))
    case 'replaced':
      return done(replaced(state, order.block))
    case 'reset':
      return reset(state)
  }
}

function pause(state: LaneState, { kind, reason }: PauseReason, by: string): LaneState {
  return kind !== 'operator' && state.paused?.kind === 'operator' ? state : { ...state, paused: { kind, reason, by } }
}

function fillUnowned(state: LaneState, nonce: number): Step {
  return atUnmined(state, nonce, (entry) => {
    const { owner } = entry
    if (owner) return refuse(state, 'conflict', `nonce ${nonce} belongs to ${owner.intentId}; cancel-nonce takes it away from its owner`)
    // An intent of an earlier ledger may own an inherited nonce, so the nonce stays inherited. Its no-op becomes due
    // now.
    if (entry.fill === 'inherited') return done(put(state, { ...entry, sinceBlock: entry.sinceBlock - state.config.fillAfterBlocks }))
    return done(put(state, { ...entry, fill: 'operator', maybeSent: true }))
  })
}

function atUnmined(state: LaneState, nonce: number, change: (entry: Entry) => Step): Step {
  const { entries, next } = state
  const entry = entries[nonce]
  if (nonce < (state.observed?.latest ?? 0)) return refuse(state, 'none', `nonce ${nonce} is in a block`)
  if (entry) return change(entry)
  const detail = nonce >= next ? `nonce ${nonce} was not granted yet; the next nonce is ${next}` : `nonce ${nonce} is not in the ledger`
  return refuse(state, 'none', detail)
}

function configure(state: LaneState, given: LaneConfig, now: number): LaneState {
  const window = state.configured.window === given.window ? state.config.window : given.window
  return reviewFunds({ ...state, configured: given, config: { ...given, lane: state.config.lane, window } }, now)
}

/**
 * Stops the lane because its chain was replaced. Accepts only the ledger's own final block: a process with an old view
 * must not stop the lane after a reset.
 */
function replaced(state: LaneState, { height, hash }: { height: number; hash: string }): LaneState {
  const known = state.observed?.final
  return known?.height === height && known.hash === hash ? { ...state, replaced: { height, hash } } : state
}

function reset(state: LaneState): Step {
  const { final } = state.observed ?? {}
  if (!state.replaced && final) {
    return refuse(state, 'conflict', `the chain still has block ${final.height}, which this lane saw, so the chain was not replaced`)
  }
  const { config, configured, paused, closing, tombstones, counts, orders, era } = state
  const kept = { configured, ...(paused && { paused }), ...(closing && { closing }), ...(orders && { orders }), tombstones, counts }
  return done({ ...newLane(config), ...kept, era: era + 1 })
}
