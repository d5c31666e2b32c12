import type { Cause } from '../../../domain/catalogue/cause.ts'
import type { GivenOrder } from '../../../domain/order.ts'
import type { StreamView } from '../../../domain/stream/stream.ts'
import type { Delivery, Transfer } from '../../../domain/transfer/transfer.ts'
import type { TransactionRow, TransferRow } from '../../answers.ts'

/** Answers of the API with fields that its schemas leave open. Any of these may be absent in another version. */

export interface Causes {
  readonly asOf: string
  readonly causes: readonly Cause[]
}

export interface StreamRow extends Partial<StreamView> {
  readonly stream: string
  readonly workflowId?: string
  /** No other field is known then. */
  readonly problem?: string
  readonly cursor?: number
  readonly lag?: number
}

/** `partial`: only the fields of the server's list are known. */
export interface TransferReport extends Partial<TransferRow> {
  readonly id: string
  readonly execution: string
  readonly partial?: string
  readonly reason?: string
  readonly transfer?: Transfer
  readonly nonce?: number
  readonly batch?: string
  readonly rounds?: number
  readonly remedy?: string
  readonly delivery?: Delivery
  readonly transactions?: readonly TransactionRow[]
  readonly timeline?: readonly { readonly at: number; readonly state: string; readonly note: string }[]
  readonly orders?: readonly GivenOrder[]
}
