import type { ErrorCode } from '../catalogue/errors.ts'
import type { BridgeName, TransferState } from '../transfer/transfer.ts'

/** The bridge whose relayers MIP-61 describes, by its name in the config. */
export const mip61Bridge = 'native-bridge' satisfies BridgeName

/** MIP-61's states. `executed`: completed in a block that is not final. `failed`: reverted, to be sent again. */
export type Mip61State =
  | 'transfer_initiated'
  | 'transfer_pending'
  | 'transfer_pending_executed'
  | 'transfer_pending_failed'
  | 'transfer_completed'

const byState: Readonly<Record<TransferState, Mip61State | undefined>> = {
  admitting: 'transfer_initiated',
  waiting: 'transfer_initiated',
  parked: 'transfer_initiated',
  // From the moment that a nonce is asked for, the completion may have been sent.
  broadcasting: 'transfer_pending',
  pending: 'transfer_pending',
  included: 'transfer_pending_executed',
  delivered: 'transfer_completed',
  // The paper knows no transfer that ends otherwise.
  rejected: undefined,
  declined: undefined,
  cancelled: undefined,
}

/** Undefined: of another bridge, or ended otherwise. @param code absent: a failed transfer counts as initiated */
export function mip61Of(transfer: { bridge: BridgeName; state: TransferState; code?: ErrorCode | undefined }): Mip61State | undefined {
  const { bridge, state, code } = transfer
  if (bridge !== mip61Bridge) return undefined
  const failed = code === 'DELIVERY_REVERTED' && (state === 'waiting' || state === 'parked')
  return failed ? 'transfer_pending_failed' : byState[state]
}
