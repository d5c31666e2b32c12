import { isDeepStrictEqual } from 'node:util'
import { isGrpcServiceError } from '@temporalio/client'
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/index.js'
import { toRelayerError, RelayerError } from '../../../domain/catalogue/errors.ts'
import { defined } from '../../../domain/defined.ts'
import type { GivenOrder } from '../../../domain/order.ts'
import { contentIn, type KnownContent } from '../../../domain/transfer/content.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { summaryText } from '../../../domain/text/web-ui-text.ts'
import { chainQueue, searchAttributes } from '../../contracts/names.ts'
import { reversalId, type Reversal } from '../../contracts/reversal.ts'
import type { TransferInput } from '../../contracts/transfer.ts'
import type { TemporalClient } from '../connection/client.ts'
import { detailOf, fromTemporal, ifGone, isAlreadyStarted, isTooLarge } from '../connection/errors.ts'
import { startUnlessTaken } from '../calls/workflow-calls.ts'
import { contentMemo, startedAtMemo, stateOf, toRow } from './transfer-list.ts'
import type { transfersWith } from './transfer-queries.ts'

/** `known`: the transfer runs or has an outcome. Throws TEMPORAL_UNAVAILABLE and MESSAGE_TOO_LARGE. */
export async function startTransfer(
  client: TemporalClient,
  id: string,
  input: TransferInput,
  content: KnownContent = {},
): Promise<'started' | 'known'> {
  const { bridge, sourceChain, targetChain, sequence } = input.transfer
  const summary = `${bridge}: ${sourceChain} → ${targetChain}, sequence ${sequence}`
  const policies = { workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY', workflowIdConflictPolicy: 'FAIL' } as const
  try {
    await client.workflow.start('transfer', { ...startOptions(id, { input, content, summary }), ...policies })
    return 'started'
  } catch (error) {
    if (isAlreadyStarted(error)) return 'known'
    if (isTooLarge(error)) throw new RelayerError('MESSAGE_TOO_LARGE', { detail: detailOf(error), facts: { transfer: id }, cause: error })
    throw toRelayerError(fromTemporal(error, {}, { transfer: id }))
  }
}

/**
 * Starts a transfer whose id belongs to a rejected run: a stranger may have started that run with a wrong message. The
 * caller has verified `input`.
 */
export async function startInPlaceOfRejected(
  client: TemporalClient,
  id: string,
  input: TransferInput,
  content: KnownContent,
): Promise<boolean> {
  const run = await client.workflow.getHandle(id).describe()
  if (run.status.name !== 'COMPLETED' || stateOf(run) !== 'rejected') return false
  if (isSameMessage(await readableTransfer(client, id, run.runId), input.transfer)) return false
  await startAgain(client, id, { input, content, summary: 'started again: another message with its id was rejected' })
  return true
}

/** A transfer that its source shows. `isIn`: whether a message (base64) is its message, perhaps with an attestation. */
interface OwnTransfer {
  readonly transfer: Transfer
  readonly isIn: (message: string) => boolean
}

/**
 * Starts a closed transfer again, with its stored input but without the deadline. A person's order keeps only what the
 * message says. `own` replaces the stored message, and everything else that is stored with a message of a stranger.
 * Throws INTERNAL if no input is stored.
 */
export async function restartTransfer(
  client: TemporalClient,
  id: string,
  { why = 'started again', order, own }: { readonly why?: string; readonly order?: GivenOrder; readonly own?: OwnTransfer } = {},
): Promise<void> {
  const { input: stored, content: storedContent } = await storedStart(client, id)
  const { priority } = stored
  // Anyone with access to Temporal can start a run without a transfer.
  const { message = '', terms, startedUnder } = Object(stored.transfer) as Partial<Transfer>
  const isStrangers = own && !own.isIn(message)
  const added = isStrangers ? {} : defined({ terms, startedUnder })
  const kept = own ? { ...own.transfer, ...added } : stored.transfer
  const content = isStrangers ? {} : storedContent
  const transfer = order ? ofMessage(kept) : kept
  const { sourceChain, targetChain, sequence } = transfer
  const input = { transfer, priority, ...(order && { orders: [order] }) }
  await startAgain(client, id, { input, content, summary: `${sourceChain} → ${targetChain} #${sequence}, ${why}` })
}

function isSameMessage(stored: Transfer | undefined, transfer: Transfer): boolean {
  // Temporal stores JSON, which has no undefined fields.
  return isDeepStrictEqual(stored && ofMessage(stored), JSON.parse(JSON.stringify(ofMessage(transfer))))
}

/** The transfer without what its submission added to the message. */
function ofMessage({ terms: _, startedUnder: __, ...transfer }: Transfer): Transfer {
  return transfer
}

/** Starts a new run. If another process has just started one, that run continues. */
async function startAgain(client: TemporalClient, id: string, start: Start): Promise<void> {
  const policies = { workflowIdReusePolicy: 'ALLOW_DUPLICATE', workflowIdConflictPolicy: 'USE_EXISTING' } as const
  await client.workflow.start('transfer', { ...startOptions(id, start), ...policies })
}

export async function storedTransfer(client: TemporalClient, id: string, runId?: string): Promise<Transfer> {
  return (await storedStart(client, id, runId)).input.transfer
}

/** Records that a delivery is gone. Call this before you restart the transfer. */
export async function recordReversal(client: TemporalClient, transfer: string): Promise<void> {
  const described = await client.workflow.getHandle(transfer).describe().catch(ifGone(undefined))
  if (!described || described.status.name !== 'COMPLETED' || stateOf(described) !== 'delivered') return
  const { bridge: Bridge, sourceChain: SourceChain, targetChain: TargetChain, lane: Lane, txHash: TxHash } = toRow(described)
  const content = contentIn(described.memo?.[contentMemo])
  const input: Reversal = { transfer, run: described.runId, txHash: TxHash }
  await startUnlessTaken(client, 'reversal', {
    workflowId: reversalId(input),
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    args: [input],
    memo: { [contentMemo]: content },
    typedSearchAttributes: attributes({ Bridge, SourceChain, TargetChain, Lane, TxHash }),
    staticSummary: `the delivery of ${transfer} is gone`,
  })
}

function attributes(values: Parameters<typeof transfersWith>[0]) {
  const given = Object.entries(values) as [keyof typeof searchAttributes, string | undefined][]
  return given.flatMap(([name, value]) => (value === undefined ? [] : [{ key: searchAttributes[name], value }]))
}

interface Start {
  readonly input: TransferInput
  readonly content: KnownContent
  readonly summary: string
}

function startOptions(workflowId: string, { input, content, summary }: Start) {
  const { bridge: Bridge, sourceChain: SourceChain, targetChain: TargetChain } = input.transfer
  return {
    workflowId,
    taskQueue: chainQueue(TargetChain),
    args: [input],
    memo: { [startedAtMemo]: new Date().toISOString(), [contentMemo]: content },
    staticSummary: summaryText(summary),
    typedSearchAttributes: attributes({ TransferState: 'admitting', Bridge, SourceChain, TargetChain }),
  }
}

async function storedStart(client: TemporalClient, id: string, runId?: string): Promise<Pick<Start, 'input' | 'content'>> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId: id, runId: runId ?? null },
    maximumPageSize: 1,
  })
  const { input, memo } = history?.events?.[0]?.workflowExecutionStartedEventAttributes ?? {}
  const [payload] = input?.payloads ?? []
  if (!payload) throw new RelayerError('INTERNAL', { detail: 'The first event of this workflow holds no input.', facts: { transfer: id } })
  const { namespace, loadedDataConverter } = client.options
  // This call bypasses the SDK's methods, which would decode the payload.
  const decode = <Value>(given: typeof payload): Promise<Value> =>
    decodeFromPayloadsAtIndex(loadedDataConverter, 0, [given], { type: 'workflow', namespace, workflowId: id })
  const kept = memo?.fields?.[contentMemo]
  return { input: await decode(payload), content: contentIn(kept && (await decode(kept).catch(() => undefined))) }
}

/** Returns undefined if the run is unreadable: such a run is not Portage's, and must not block the message. */
export async function readableTransfer(client: TemporalClient, id: string, runId: string): Promise<Transfer | undefined> {
  try {
    const transfer = await storedTransfer(client, id, runId)
    return typeof transfer.message === 'string' ? transfer : undefined
  } catch (error) {
    if (isGrpcServiceError(error)) throw error
    return undefined
  }
}
