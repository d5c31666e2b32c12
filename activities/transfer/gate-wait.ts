import type { ClosedGate } from '../../bridges/gates/gate-watcher.ts'
import type { Gate } from '../../bridges/port.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { chainOf, type StepDeps } from '../deps.ts'

/** First wait for an unwatched gate, ms. The workflow doubles it up to half an hour. */
const unwatchedMs = 15_000
/** Waits for a watched gate, ms. The watcher wakes the transfer; the wait ends only if the watcher is gone. */
const leastWatchedMs = 15 * 60_000
const mostWatchedMs = 30 * 60_000
/** Shortest wait after the gate opens, ms: the watcher comes first. */
const leastLateMs = 60_000

export function waitForGate(deps: Pick<StepDeps, 'gates' | 'chains'>, transfer: Transfer, gate: Exclude<Gate, { kind: 'open' }>): Stopped {
  const { code, reason } = gate
  if (gate.kind === 'transfer') return { kind: 'impossible', code, reason }
  deps.gates?.wait(transfer, gate)
  const now = chainOf(deps, transfer).heads.current?.latest.timestamp
  const watched = deps.gates !== undefined
  return { kind: 'waiting', code, reason, retryInMs: Math.round(gateWaitMs(gate, { watched, now, share: shareOf(transfer) })) }
}

/**
 * How long a transfer waits before it checks the gate itself, ms.
 * @param now of the target chain, seconds since the epoch
 * @param share 0 to 1 by transfer: thousands must not wake in the same second
 */
export function gateWaitMs(
  gate: ClosedGate,
  { watched, now, share }: { watched: boolean; now: number | undefined; share: number },
): number {
  const opensAt = gate.kind === 'route' ? gate.opensAt : undefined
  if (opensAt !== undefined && now !== undefined) {
    return Math.max(0, opensAt - now) * 1_000 + leastLateMs + share * (mostWatchedMs - leastLateMs)
  }
  return watched ? leastWatchedMs + share * (mostWatchedMs - leastWatchedMs) : unwatchedMs
}

function shareOf({ digest }: Transfer): number {
  return Number.parseInt(digest.slice(2, 10), 16) / 2 ** 32
}
