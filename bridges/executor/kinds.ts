import type { At, Receipt, Revert } from '../../chains/port.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { placedRefusals } from '../kit/placed-logs.ts'
import { signedRefusals } from '../kit/signed-messages.ts'
import type { Refusals } from '../kit/verdict.ts'
import type { Attestation, Endpoint, FoundDelivery, Parties, RevertMeaning, Stages, Verdict } from '../port.ts'
import type { ExecutorMessage } from './message.ts'
import type { RelayInstructions } from './requests.ts'

/**
 * Delivers requests of one kind after `judge` has accepted them. `judge` does not read the messages that requests ask
 * for.
 */
export interface RequestKind {
  attest(message: ExecutorMessage): Promise<Attestation | undefined>
  /** Throws a code of `executorRefusals` and read errors. */
  validate(message: ExecutorMessage): Promise<Verdict>
  /** Proves a call of `intentOf`. Throws CALL_UNJUSTIFIED, a code of `executorRefusals` and read errors. */
  prove(message: ExecutorMessage, stage: string | undefined): Promise<void>
  /** Throws EXECUTOR_UNSUPPORTED. */
  intentOf(message: ExecutorMessage, wanted: RelayInstructions, stage: string | undefined): Promise<Intent>
  delivered(message: ExecutorMessage, at: At): Promise<boolean>
  /** See `Endpoint.mayShow`. */
  mayShow(message: ExecutorMessage): Promise<boolean>
  partiesOf(message: ExecutorMessage): Pick<Parties, 'recipient' | 'token'>
  readonly revertsOnceDelivered: boolean
  explainRevert(revert: Revert, message: ExecutorMessage): RevertMeaning
  hasEffect(receipt: Receipt, message: ExecutorMessage): boolean | undefined
  findDelivery?(message: ExecutorMessage): Promise<FoundDelivery | undefined>
  reserve?(message: ExecutorMessage, relayer: string): ReturnType<NonNullable<Endpoint['reserve']>>
  first?(message: ExecutorMessage): string | undefined
  /** Undefined for requests that one call delivers. */
  next?(message: ExecutorMessage, isDoubted?: boolean): ReturnType<Stages['next']>
  passed?(message: ExecutorMessage, stage: string, at: At): Promise<boolean>
}

export const executorRefusals: Refusals = {
  ...signedRefusals,
  EXECUTOR_MESSAGE: { kind: 'rejected' },
  ...placedRefusals,
  EXECUTOR_QUOTE_UNKNOWN: { kind: 'declined' },
  EXECUTOR_UNSUPPORTED: { kind: 'declined' },
  EXECUTOR_UNDERPAID: { kind: 'declined' },
  EXECUTOR_EXPIRED: { kind: 'declined' },
}

/** Before a call is signed, `declined` becomes `rejected`, which `provedBy` turns into CALL_UNJUSTIFIED. */
export const keyRefusals: Refusals = Object.fromEntries(
  Object.entries(executorRefusals).map(([code, { kind }]) => [code, { kind: kind === 'declined' ? 'rejected' : kind }]),
)
