import { z } from 'zod'
import { orderOf } from '../../domain/order.ts'
import { isOutcome, type Transfer, transferStates } from '../../domain/transfer/transfer.ts'
import type { ClosedRun, ClosedTransfer } from '../../temporal/client/transfers/closed-runs.ts'

// Anybody with access to Temporal can end a run with any result, so values with an unexpected form count as absent.

/** A stranger can choose an order's time, and each day with an order has a file, so the range is limited. */
const isoTime = z
  .number()
  .min(Date.UTC(2020))
  .lt(Date.UTC(2100))
  .transform((ms) => new Date(ms).toISOString())

export const orderSchema = z.object({
  kind: z.string(),
  by: z.string(),
  reason: z.string(),
  at: isoTime,
  facts: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  times: z.number().optional(),
})

const sentFields = {
  ...{ kind: z.string(), maxFee: z.string(), tip: z.string(), fate: z.string() },
  ...{ to: z.string().optional(), value: z.string().optional(), gasLimit: z.string().optional(), gasUsed: z.string().optional() },
  ...{ at: isoTime.optional(), acceptedAt: isoTime.optional(), includedAt: isoTime.optional(), reorgedAt: isoTime.optional() },
}

const attemptSchema = z
  .object({ ...sentFields, hash: z.string() })
  .transform(({ maxFee, tip, value, ...rest }) => ({ ...rest, ...weiOf({ maxFee, tip, value }) }))

const transactionSchema = z
  .object({
    ...sentFields,
    ...{ lane: z.string(), nonce: z.number(), round: z.number(), hash: z.string().optional(), gasPaid: z.string().optional() },
  })
  .transform(({ maxFee, tip, value, gasPaid, ...rest }) => ({ ...rest, ...weiOf({ maxFee, tip, value }), gasPaidWei: gasPaid }))
const entrySchema = z.object({ at: isoTime, state: z.string(), note: z.string() })

const text = z.string().optional().catch(undefined)
const count = z.number().optional().catch(undefined)

function weiOf({ maxFee, tip, value }: { maxFee: string; tip: string; value?: string | undefined }) {
  return { maxFeePerGasWei: maxFee, maxPriorityFeePerGasWei: tip, ...(value !== undefined && { valueWei: value }) }
}

function listOf<Entry>(schema: z.ZodType<Entry>) {
  const kept = (entries: unknown[]) => entries.flatMap((one) => schema.safeParse(one).data ?? [])
  return z.array(z.unknown()).transform(kept).optional().catch(undefined)
}

const deliverySchema = z
  .object({ by: text, ours: z.boolean(), txHash: text, blockHeight: count, blockHash: text, gasPaid: text })
  .transform(({ gasPaid, ...rest }) => ({ ...rest, gasPaidWei: gasPaid }))

const lists = {
  tried: listOf(attemptSchema),
  transactions: listOf(transactionSchema),
  orders: listOf(orderSchema),
  timeline: listOf(entrySchema),
}

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
  ...{ lane: text, nonce: count, batch: text, rounds: count },
  ...lists,
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

type Ended = z.infer<typeof statusSchema>

/** Amounts are decimal strings, with the unit in the field's name. Times are ISO 8601. */
export interface TransferRecord extends Partial<Omit<Ended, 'state' | 'tried'>> {
  /** The version stays the same when a field is added. */
  readonly version: 1
  readonly id: string
  readonly runId: string
  /** Temporal's status: COMPLETED or, without an outcome, TERMINATED, FAILED… */
  readonly execution: string
  readonly startedAt: string
  readonly closedAt: string
  readonly transfer?: Transfer
  readonly outcome?: Ended['state']
  readonly attempts?: Ended['tried']
  readonly unreadable?: string
  /** The run completed with a result that Portage does not write. */
  readonly invalid?: true
  readonly dropped?: number
  /** The record was too long. It has no lists and, if that was not enough, no texts. */
  readonly shortened?: true
}

/** Maximum length of a record, characters. The longest possible message takes about 300,000. */
export const longestRecord = 400_000
/**
 * Number of characters at which a slice counts as full. In a full slice, new records have the shortest form. V8's
 * strings are shorter than 2^29 characters.
 */
const fullSlice = 100_000_000

export function transferRecord(run: ClosedRun, ended: ClosedTransfer): TransferRecord {
  const { workflowId: id, runId, execution, startedAt, closedAt } = run
  const transfer = transferSchema.safeParse(ended.transfer).data
  const outcome = outcomeOf(ended.result)
  const record: TransferRecord = {
    ...{ version: 1, id, runId, execution, startedAt, closedAt },
    ...(transfer && { transfer }),
    ...outcome,
    ...(ended.unreadable !== undefined && { unreadable: ended.unreadable }),
    ...(execution === 'COMPLETED' && !outcome && ended.unreadable === undefined && { invalid: true as const }),
  }
  return JSON.stringify(record).length <= longestRecord ? record : shortRecord(record)
}

function shortRecord(record: TransferRecord): TransferRecord {
  const { attempts: _, transactions: _transactions, orders: _orders, timeline: _timeline, ...rest } = record
  return JSON.stringify(rest).length <= longestRecord ? { ...rest, shortened: true } : shortestRecord(record)
}

/** The record without the texts that strangers can choose: about 2,000 characters. */
export function shortestRecord(record: TransferRecord): TransferRecord {
  const { id, runId, execution, startedAt, closedAt, outcome, unreadable, invalid } = record
  return { version: 1, id, runId, execution, startedAt, closedAt, outcome, unreadable, invalid, shortened: true }
}

export function isUnreadable({ unreadable }: TransferRecord): boolean {
  return unreadable !== undefined
}

function outcomeOf(given: unknown): Partial<TransferRecord> | undefined {
  const { data } = statusSchema.safeParse(given)
  if (!data) return undefined
  const { state: outcome, tried: attempts, transactions, orders, timeline, ...rest } = data
  const lengthOf = (list: unknown) => (Array.isArray(list) ? list.length : 0)
  const dropped = (Object.keys(lists) as (keyof typeof lists)[]).reduce(
    (sum, name) => sum + lengthOf((given as Ended)[name]) - lengthOf(data[name]),
    0,
  )
  return { outcome, ...rest, attempts, transactions, orders, timeline, ...(dropped > 0 && { dropped }) }
}

/** Records that the archive lacks, and records that were unreadable when they were archived and are readable now. */
export function newOnes(archived: readonly TransferRecord[], records: readonly TransferRecord[]): TransferRecord[] {
  const known = new Set(archived.map(({ runId }) => runId))
  const readable = new Set(archived.flatMap((record) => (isUnreadable(record) ? [] : [record.runId])))
  return records.filter((record) => !known.has(record.runId) || (!readable.has(record.runId) && !isUnreadable(record)))
}

/** Records that would make the slice longer than `full` have the shortest form. */
export function sliceText(lines: readonly string[], added: readonly TransferRecord[], full = fullSlice): string {
  const all = [...lines]
  let length = lines.reduce((sum, line) => sum + line.length, 0)
  for (const record of added) {
    const line = JSON.stringify(record)
    all.push(length + line.length <= full ? line : JSON.stringify(shortestRecord(record)))
    length += all.at(-1)?.length ?? 0
  }
  return `${all.join('\n')}\n`
}
