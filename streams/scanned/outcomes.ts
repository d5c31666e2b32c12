import type { StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { latestRun } from '../../temporal/client/closed-transfers.ts'
import {
  isOf,
  parkedAndUndelivered,
  type ListedTransfer,
  statusOf,
  type StreamOfTransfers,
} from '../../temporal/client/stream-transfers.ts'
import { toClosed } from '../transfer-outcomes.ts'
import { viewOf } from './context.ts'
import type { ScannedContext } from './context.ts'

/** The visibility store lags; what closed this long before the last look is looked at again, ms. */
const lagMs = 60_000
const askedAtOnce = 50

/**
 * How transfers end, or wait, otherwise than by a delivery: one query of the visibility store, and each transfer's own word for what has changed.
 * @returns one look
 */
export function createOutcomes(context: ScannedContext): () => Promise<boolean> {
  const { streamClient, client, source } = context
  let since = Date.now() - 60 * lagMs
  return async function lookAtEnds() {
    const view = await viewOf(context)
    if (view.open === 0) return false
    const era = streamClient.era
    const from = Date.now()
    const standings = await parkedAndUndelivered(client, transfersOf(context), since)
    const state = standings.length > 0 || view.parked > 0 ? await streamClient.state() : undefined
    if (state) {
      const known = await transfersUnder(context, concerned(state, standings))
      const requests = await changes(context, state, standings, known)
      if (requests.length > 0) await streamClient.apply(requests, era)
      for (const { kind, ...facts } of requests)
        context.logger.info(`a transfer of a stream is ${kind}`, { stream: source.config.stream, ...facts })
    }
    since = from - lagMs
    return false
  }
}

export function transfersOf({ source: { bridge, sourceChain, targetChain } }: Pick<ScannedContext, 'source'>): StreamOfTransfers {
  return { bridge, sourceChain, targetChain }
}

/** What the stream is told of a transfer that ended undelivered; undefined: it did not. Throws what the Temporal client throws. */
export async function closedRequest(
  { client }: Pick<ScannedContext, 'client'>,
  standing: { readonly id: string; readonly runId?: string; readonly running: boolean; readonly number: string },
): Promise<StreamRequest | undefined> {
  return toClosed(standing.number, await statusOf(client, standing))
}

/** Open numbers that have changed, as far as the standings tell. */
function concerned({ open }: StreamState, standings: readonly ListedTransfer[]): readonly string[] {
  const told = new Map(standings.map((one) => [one.number, one]))
  return open
    .filter(({ number, parked }) => isNews(told.get(number), parked))
    .map(({ number }) => number)
    .slice(0, askedAtOnce)
}

function isNews(standing: ListedTransfer | undefined, parked: string | undefined): boolean {
  if (standing?.running) return parked === undefined
  return standing !== undefined || parked !== undefined
}

/** The transfers under these numbers: the source's table has them for good. */
export async function transfersUnder({ cache, source }: ScannedContext, numbers: readonly string[]): Promise<readonly Transfer[]> {
  const unknown = numbers.filter((number) => !cache.transfer(number))
  if (unknown.length > 0) cache.know((await source.recorded(unknown, 'finalized')).flatMap((transfer) => transfer ?? []))
  return numbers.flatMap((number) => cache.transfer(number) ?? [])
}

/** What has changed, by each transfer's own word. */
async function changes(
  context: ScannedContext,
  { open }: StreamState,
  standings: readonly ListedTransfer[],
  known: readonly Transfer[],
): Promise<readonly StreamRequest[]> {
  const told = await Promise.all(
    known.map(async (transfer) => {
      const { sequence: number } = transfer
      const isParked = open.some((one) => one.number === number && one.parked !== undefined)
      const standing = standings.find((one) => one.number === number && isOf(one, transfer))
      if (standing?.running) return isParked ? undefined : parkedRequest(context, standing)
      if (standing) return closedRequest(context, standing)
      // Another one may claim the number: of this one nothing is known.
      return isParked && !standings.some((one) => one.number === number) ? releasedRequest(context, transfer) : undefined
    }),
  )
  return told.flatMap((request) => request ?? [])
}

async function parkedRequest({ client }: Pick<ScannedContext, 'client'>, standing: ListedTransfer): Promise<StreamRequest | undefined> {
  const { state, code = 'INTERNAL' } = await statusOf(client, standing)
  return state === 'parked' ? { kind: 'parked', number: standing.number, code } : undefined
}

/** One that closed since is told by the target, or by the next look. */
async function releasedRequest({ client }: Pick<ScannedContext, 'client'>, transfer: Transfer): Promise<StreamRequest | undefined> {
  const id = transferId(transfer)
  if ((await latestRun(client, id)) !== 'running') return undefined
  const { state } = await statusOf(client, { id, running: true })
  return state === 'parked' ? undefined : { kind: 'unparked', number: transfer.sequence }
}
