import { z } from 'zod'
import { orderOf } from '../../domain/order.ts'
import { isOutcome, type Transfer, transferStates } from '../../domain/transfer/transfer.ts'

// Anybody with access to Temporal can end a run with anything: other shapes count as absent.

/** ms since the epoch, of this century: strangers choose times, and each day has a file. */
export const timeSchema = z.number().min(Date.UTC(2020)).lt(Date.UTC(2100))

export const orderSchema = z.object({
  kind: z.string(),
  by: z.string(),
  reason: z.string(),
  at: timeSchema,
  facts: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  times: z.number().optional(),
})

const attemptSchema = z.object({ kind: z.string(), hash: z.string(), maxFee: z.string(), tip: z.string(), fate: z.string() })
/** `TransferTransaction` (domain/transfer/attempts.ts). */
const transactionSchema = z.object({
  ...{ lane: z.string(), nonce: z.number(), round: z.number(), kind: z.string() },
  hash: z.string().optional(),
  ...{ maxFee: z.string(), tip: z.string(), fate: z.string() },
  gasPaid: z.string().optional(),
  at: timeSchema.optional(),
})
const entrySchema = z.object({ at: timeSchema, state: z.string(), note: z.string() })
const text = z.string().optional().catch(undefined)
const count = z.number().optional().catch(undefined)
const list = z.array(z.unknown()).optional().catch(undefined)

const deliverySchema = z.object({
  by: text,
  ours: z.boolean(),
  txHash: text,
  blockHeight: count,
  blockHash: text,
  gasPaid: text,
})

const statusSchema = z.object({
  state: z.enum(transferStates).refine(isOutcome),
  code: text,
  reason: text,
  cancelledBy: z
    .record(z.string(), z.unknown())
    .transform((given) => orderOf(given))
    .optional()
    .catch(undefined),
  delivery: deliverySchema.optional().catch(undefined),
  lane: text,
  nonce: count,
  batch: text,
  rounds: count,
  tried: list,
  transactions: list,
  orders: list,
  timeline: list,
})

const transferSchema = z.looseObject({
  bridge: z.string(),
  sourceChain: z.string(),
  sourceId: z.string(),
  targetChain: z.string(),
  emitter: z.string(),
  sequence: z.string(),
  digest: z.string(),
  message: z.string(),
}) satisfies z.ZodType<Transfer>

export type EndedStatus = Omit<z.infer<typeof statusSchema>, 'tried' | 'transactions' | 'orders' | 'timeline'> & {
  readonly tried?: z.infer<typeof attemptSchema>[] | undefined
  readonly transactions?: z.infer<typeof transactionSchema>[] | undefined
  readonly orders?: z.infer<typeof orderSchema>[] | undefined
  readonly timeline?: z.infer<typeof entrySchema>[] | undefined
  /** Entries with another shape. */
  readonly dropped: number
}

/** Undefined: not the result of a transfer. */
export function readStatus(given: unknown): EndedStatus | undefined {
  const read = statusSchema.safeParse(given)
  if (!read.success) return undefined
  const { tried, transactions, orders, timeline, ...rest } = read.data
  const lists = {
    tried: valid(attemptSchema, tried),
    transactions: valid(transactionSchema, transactions),
    orders: valid(orderSchema, orders),
    timeline: valid(entrySchema, timeline),
  }
  const kept = Object.values(lists).reduce((sum, one) => sum + (one?.length ?? 0), 0)
  return { ...rest, ...lists, dropped: [tried, transactions, orders, timeline].reduce((sum, one) => sum + (one?.length ?? 0), 0) - kept }
}

/** Undefined: not the input of a transfer. */
export function readTransferInput(given: unknown): Transfer | undefined {
  return transferSchema.safeParse(given).data
}

function valid<Entry>(schema: z.ZodType<Entry>, entries: readonly unknown[] | undefined): Entry[] | undefined {
  return entries?.flatMap((one) => {
    const read = schema.safeParse(one)
    return read.success ? [read.data] : []
  })
}
