import type { Cause } from '../../../domain/catalogue/cause.ts'
import type { GivenOrder } from '../../../domain/order.ts'
import type { StreamView } from '../../../domain/stream/stream.ts'
import type { Delivery, Transfer } from '../../../domain/transfer/transfer.ts'
import type { TransactionRow, TransferRow } from '../../answers.ts'

/** Answers of the API. Most fields are optional, because another version of Portage may omit them. */

export interface Causes {
  readonly asOf: string
  readonly causes: readonly Cause[]
}

export interface StreamRow extends Partial<StreamView> {
  readonly stream: string
  readonly workflowId?: string
  readonly problem?: string
  readonly cursor?: number
  readonly lag?: number
  readonly headAt?: string
  readonly silentSince?: string
}

/** If only the fields that Temporal lists are known, `partial` says why. */
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
