import type { LaneId } from '../../domain/lane/lane-id.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Gate } from '../port.ts'

/** A gate that many transfers wait for, and that opens some day. */
export type ClosedGate = Extract<Gate, { kind: 'lane' | 'route' }>

/** What the steps of a process report to its gate watcher. */
export interface ClosedGates {
  /** This transfer waits at this gate. */
  wait(transfer: Transfer, gate: ClosedGate): void
  /** The account of this lane lacks a role. */
  unauthorized(lane: LaneId): void
}
