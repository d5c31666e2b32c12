import type { Cause } from '../../../domain/catalogue/cause.ts'
import type { GivenOrder } from '../../../domain/order.ts'
import type { StreamView } from '../../../domain/stream/stream.ts'
import type { Delivery, Transfer } from '../../../domain/transfer/transfer.ts'
import type { TransactionRow, TransferRow } from '../../answers.ts'

/** API answers whose fields the schemas do not list. An API of another version may lack any of these fields. */

export interface Causes {
  readonly asOf: string
  readonly causes: readonly Cause[]
}

export interface StreamRow extends Partial<StreamView> {
  readonly stream: string
  readonly workflowId?: string
  /** Why the stream cannot be read. No other field is known then. */
  readonly problem?: string
  readonly cursor?: number
  readonly lag?: number
  readonly headAt?: string
  readonly silentSince?: string
}

/** `partial`: why only the fields of Temporal's list are known. */
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
