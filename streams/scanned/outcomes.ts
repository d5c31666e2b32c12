import type { OpenNumber, StreamRequest } from '../../domain/stream/stream.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { latestRun } from '../../temporal/client/closed-transfers.ts'
import {
  isOf,
  type ListedTransfer,
  parkedAndUndelivered,
  statusOf,
  type StreamOfTransfers,
} from '../../temporal/client/stream-transfers.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { toClosed } from '../transfer-outcomes.ts'
import { type ScannedContext, viewOf } from './context.ts'
import { transfersUnder } from './transfers.ts'

/** The visibility store lags; what closed this long before the last look is looked at again, ms. */
const lagMs = 60_000
const readsAtOnce = 50

/**
 * Records outcomes other than a delivery, and which transfers are parked: one query of the visibility store, and the status of each transfer that changed.
 * @returns one look
 */
export function createOutcomeReporter(context: ScannedContext): () => Promise<boolean> {
  const { streamClient, client, source, logger } = context
  let since = Date.now() - 60 * lagMs
  return async function reportOutcomes() {
    const view = await viewOf(context)
    if (view.open === 0) return false
    const era = streamClient.era
    const from = Date.now()
    const listed = await parkedAndUndelivered(client, streamOf(context), since)
    const state = listed.length > 0 || view.parked > 0 ? await streamClient.state() : undefined
    const requests = state ? await changes(context, state.open, listed) : []
    if (requests.length > 0) await streamClient.apply(requests, era)
    for (const { kind, ...facts } of requests) logger.info(`a transfer of a stream is ${kind}`, { stream: source.config.stream, ...facts })
    since = from - lagMs
    return false
  }
}

export function streamOf({ source: { bridge, sourceChain, targetChain } }: Pick<ScannedContext, 'source'>): StreamOfTransfers {
  return { bridge, sourceChain, targetChain }
}

/** The request for a transfer that ended undelivered; undefined: it did not. Throws what the Temporal client throws. */
export async function closedRequest(
  { client }: Pick<ScannedContext, 'client'>,
  listed: { readonly id: string; readonly runId?: string; readonly running: boolean; readonly number: string },
): Promise<StreamRequest | undefined> {
  return toClosed(listed.number, await statusOf(client, listed))
}

/** What has changed of the open numbers, by the status of each transfer. */
async function changes(
  context: ScannedContext,
  open: readonly OpenNumber[],
  listed: readonly ListedTransfer[],
): Promise<readonly StreamRequest[]> {
  const parked = new Set(open.flatMap((one) => (one.parked === undefined ? [] : [one.number])))
  const byNumber = new Map(listed.map((one) => [one.number, one]))
  const hasChanged = (number: string) => {
    const one = byNumber.get(number)
    return one?.running ? !parked.has(number) : one !== undefined || parked.has(number)
  }
  const changed = open.map(({ number }) => number).filter(hasChanged)
  const requests = (await transfersUnder(context, changed.slice(0, readsAtOnce))).map(async (transfer) => {
    const { sequence: number } = transfer
    // Another message may claim the number.
    const own = listed.find((one) => one.number === number && isOf(one, transfer))
    if (own?.running) return parked.has(number) ? undefined : parkedRequest(context, own)
    if (own) return closedRequest(context, own)
    return parked.has(number) && !byNumber.has(number) ? releasedRequest(context, transfer) : undefined
  })
  return (await Promise.all(requests)).flatMap((request) => request ?? [])
}

async function parkedRequest({ client }: Pick<ScannedContext, 'client'>, listed: ListedTransfer): Promise<StreamRequest | undefined> {
  const { state, code = 'INTERNAL' } = await statusOf(client, listed)
  return state === 'parked' ? { kind: 'parked', number: listed.number, code } : undefined
}

/** A parked transfer that runs again. One that closed since is recorded by the target's completions, or by the next look. */
async function releasedRequest({ client }: Pick<ScannedContext, 'client'>, transfer: Transfer): Promise<StreamRequest | undefined> {
  const id = transferId(transfer)
  if ((await latestRun(client, id)) !== 'running') return undefined
  const { state } = await statusOf(client, { id, running: true })
  return state === 'parked' ? undefined : { kind: 'unparked', number: transfer.sequence }
}
