import type { Gate } from '../../bridges/port.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Stopped } from '../../temporal/contracts/transfer-steps.ts'
import type { StepDeps } from '../deps.ts'
import { chainOf } from '../deps.ts'
import type { ClosedGate } from '../../bridges/gates/closed-gates.ts'

/** Between two looks of a transfer whose gate nobody keeps, ms, to begin with; the workflow doubles it up to half an hour. */
const unkeptMs = 15_000
/** One that is kept is woken: it looks by itself only for the case that its keeper is gone. */
const leastKeptMs = 15 * 60_000
const mostKeptMs = 30 * 60_000
/** The same after a time at which the gate was to open: its keeper comes first, and not all come at once. */
const leastLateMs = 60_000

/** What a transfer does before a closed gate. Told to whoever keeps it, so that it can wait for long. */
export function beforeGate(deps: Pick<StepDeps, 'gates' | 'chains'>, transfer: Transfer, gate: Exclude<Gate, { kind: 'open' }>): Stopped {
  const { code, reason } = gate
  if (gate.kind === 'transfer') return { kind: 'impossible', code, reason }
  deps.gates?.wait(transfer, gate)
  const now = chainOf(deps, transfer).heads.current?.latest.timestamp
  const kept = deps.gates !== undefined
  return { kind: 'waiting', code, reason, retryInMs: Math.round(patienceMs(gate, { kept, now, share: shareOf(transfer) })) }
}

/**
 * How long a transfer waits before it looks by itself, ms.
 * @param now of the target chain, seconds since the epoch
 * @param share 0 to 1, another for each transfer: thousands that wait for one moment must not wake in one second
 */
export function patienceMs(gate: ClosedGate, { kept, now, share }: { kept: boolean; now: number | undefined; share: number }): number {
  const opensAt = gate.kind === 'route' ? gate.opensAt : undefined
  const untilMs = opensAt === undefined || now === undefined ? undefined : Math.max(0, opensAt - now) * 1_000
  if (untilMs !== undefined) return untilMs + leastLateMs + share * (mostKeptMs - leastLateMs)
  return kept ? leastKeptMs + share * (mostKeptMs - leastKeptMs) : unkeptMs
}

/** 0 to 1, by its digest. */
function shareOf({ digest }: Transfer): number {
  return Number.parseInt(digest.slice(2, 10), 16) / 2 ** 32
}
