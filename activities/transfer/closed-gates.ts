import type { Gate } from '../../bridges/port.ts'
import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'

/** A gate that many wait for, and that somebody may open. */
export type ClosedGate = Extract<Gate, { kind: 'lane' | 'route' }>

/** Who keeps the gates of a process: looks at each once per block while somebody waits for it, and wakes those whom it lets through. */
export interface ClosedGates {
  /** This transfer waits. */
  wait(transfer: Transfer, gate: ClosedGate): void
  /** This lane's account was found to lack a role. */
  unauthorized(lane: LaneId): void
}
