import type { RequestOf } from '../../../domain/stream/stream.ts'
import { ofChain, type Transfer } from '../../../domain/transfer/transfer.ts'
import { isOf, type ListedTransfer } from '../../../temporal/client/streams/stream-transfers.ts'
import type { SubmitOptions } from '../../submit/submitter.ts'
import { nextHead, type ScannedContext } from './context.ts'
import { RelayerError, toRelayerError } from '../../../domain/catalogue/errors.ts'
import { transferId } from '../../../temporal/contracts/names.ts'
import { latestRun } from '../../../temporal/client/transfers/closed-runs.ts'
import { recordReversal, restartTransfer } from '../../../temporal/client/transfers/start-transfer.ts'
import { problemOf } from '../../../observability/severity.ts'
import { mapLimited } from '../../../runtime/map-limited.ts'
import { closedRequests, isUndelivered } from '../transfer-outcomes.ts'

type TableContext = Pick<ScannedContext, 'cache' | 'source'>

export async function recordedTransfers(
  { cache, source }: TableContext,
  numbers: readonly string[],
  at: 'finalized' | 'agreed' = 'finalized',
): Promise<readonly Transfer[]> {
  if (numbers.length === 0) return []
  const found = (await source.recorded(numbers, at)).flatMap((transfer) => transfer ?? [])
  cache.know(found)
  return found
}

/**
 * The transfers with these numbers. Known ones come from the cache, because the source's table drops a transfer only in
 * a fork, which clears the cache.
 */
export async function transfersUnder(context: TableContext, numbers: readonly string[]): Promise<readonly Transfer[]> {
  const { cache } = context
  const unknown = numbers.filter((number) => !cache.transfer(number))
  await recordedTransfers(context, unknown)
  return numbers.flatMap((number) => cache.transfer(number) ?? [])
}

/**
 * Splits transfers by the finalized state of their targets. Leaves out transfers whose target cannot be read. Throws
 * other read errors.
 */
export async function splitByDelivery(
  { source }: Pick<ScannedContext, 'source'>,
  transfers: readonly Transfer[],
): Promise<{ readonly delivered: readonly Transfer[]; readonly missing: readonly Transfer[] }> {
  const shown = transfers.length > 0 ? await source.delivered(transfers) : []
  return { delivered: transfers.filter((_, index) => shown[index]), missing: transfers.filter((_, index) => shown[index] === false) }
}

export const numberOf = ({ sequence }: Transfer) => sequence

/** The listed workflows that belong to the source's messages. Workflows of other messages may claim the same number. */
export async function ownTransfers(context: TableContext, listed: readonly ListedTransfer[]): Promise<readonly ListedTransfer[]> {
  const numbers = new Set(listed.map(({ number }) => number))
  const known = new Map((await transfersUnder(context, [...numbers])).map((transfer) => [transfer.sequence, transfer]))
  return listed.filter((one) => {
    const transfer = known.get(one.number)
    return transfer && isOf(one, transfer)
  })
}

/**
 * The listed runs whose outcome is true. Leaves out runs of other messages, and runs that claim a delivery that the
 * target does not show.
 */
export async function endedTransfers(context: TableContext, listed: readonly ListedTransfer[]): Promise<readonly ListedTransfer[]> {
  const { cache } = context
  const own = await ownTransfers(context, listed)
  const claimed = own.flatMap(({ number, state }) => (state === 'delivered' ? (cache.transfer(number) ?? []) : []))
  const delivered = new Set((await splitByDelivery(context, claimed)).delivered.map(numberOf))
  for (const number of delivered) cache.completed(number)
  return own.filter(({ number, state }) => state !== 'delivered' || delivered.has(number))
}

/**
 * Maximum number of parallel starts. With a single node, each start waits for a block, so all starts of a range must
 * wait together.
 */
const startsAtOnce = 200

type StartContext = Pick<ScannedContext, 'client' | 'submitter' | 'decode' | 'cache' | 'stopping' | 'logger'> & {
  readonly streamClient: Pick<ScannedContext['streamClient'], 'era'>
}

type Origin = Pick<SubmitOptions, 'seenAt' | 'sourceTxHash'>

type NotStarted = readonly RequestOf<'parked' | 'closed'>[]

/**
 * Starts transfers (MIP-61's INIT_EVENT_PROCESSING). Tries all of them, then throws the worst error. Returns a request
 * for each transfer that does not run. Anyone may send a message that is refused for good, so such a message does not
 * hold up other messages. Its number moves outside the window, and audits try it again. If a transfer ended
 * undelivered, its number is closed.
 */
export async function startAll(
  { client, submitter, cache, stopping, streamClient, logger }: StartContext,
  transfers: readonly Transfer[],
  originOf: (transfer: Transfer) => Origin = () => ({}),
): Promise<NotStarted> {
  const errors: RelayerError[] = []
  const refused: RequestOf<'parked'>[] = []
  const { era } = streamClient
  const started = cache.started(era)
  const due = transfers.filter((transfer) => !started.has(transferId(transfer)))
  await mapLimited(due, startsAtOnce, async (transfer) => {
    if (stopping.aborted) return void errors.push(new RelayerError('STREAM_UNREACHABLE', { detail: 'this process is stopping' }))
    try {
      const message = Buffer.from(transfer.message, 'base64')
      const { status } = await submitter.submit(transfer.bridge, message, { repeats: 'ask', ...originOf(transfer) })
      if (streamClient.era === era) started.set(transferId(transfer), status)
    } catch (thrown) {
      const error = toRelayerError(thrown)
      const { code, retriable, haltRoute } = error
      // A second read of the block shows the right message.
      if (retriable || haltRoute || code === 'PLACE_MISMATCH') return void errors.push(error)
      logger.error('a message is refused for good, so its transfer is not started', { transfer: transferId(transfer), ...problemOf(error) })
      refused.push({ kind: 'parked', number: transfer.sequence, code, waits: true })
    }
  })
  const worst = errors.find(({ haltRoute }) => haltRoute) ?? errors[0]
  if (worst) throw worst
  const known = transfers.filter((transfer) => started.get(transferId(transfer)) === 'known')
  const latest = await latestRuns(client, known)
  const closed = await closedRequests(client, known.filter((_, index) => isUndelivered(latest[index])).map(runOf))
  cache.know(transfers)
  for (const transfer of transfers) started.delete(transferId(transfer))
  return [...refused, ...closed]
}

/** Starts a transfer again, even if it closed as delivered, but not if it ended undelivered. */
export async function startAgain(context: StartContext, transfer: Transfer): Promise<NotStarted> {
  const id = transferId(transfer)
  const latest = await latestRun(context.client, id)
  if (isUndelivered(latest)) return []
  if (latest === 'delivered') {
    await recordReversal(context.client, id)
    const isIn = (message: string) => idOf(context, message) === id
    await restartTransfer(context.client, id, { why: 'started again: its delivery was undone', own: { transfer, isIn } })
    return []
  }
  context.cache.started(context.streamClient.era).delete(id)
  return startAll(context, [transfer])
}

/** Id of the transfer of a message (base64). Undefined if the message cannot be decoded. */
function idOf({ decode }: StartContext, message: string): string | undefined {
  try {
    return transferId(decode(Buffer.from(message, 'base64')))
  } catch {
    return undefined
  }
}

const readsAtOnce = 20

export const latestRuns = (client: ScannedContext['client'], transfers: readonly Transfer[]) =>
  mapLimited(transfers, readsAtOnce, (transfer) => latestRun(client, transferId(transfer)))

export const runOf = (transfer: Transfer) => ({ id: transferId(transfer), number: transfer.sequence })

/**
 * Sorts transfers into those to start `again`, and those that `ended` undelivered. `isLost` decides about transfers
 * without a run. A transfer that closed as delivered is in `again` only if the target lacks the delivery.
 */
export async function sortedByRun(context: ScannedContext, transfers: readonly Transfer[], isLost: (transfer: Transfer) => boolean) {
  const { client } = context
  const latest = await latestRuns(client, transfers)
  const isGone = (one: Transfer, index: number) => latest[index] === 'undone' || (latest[index] === 'gone' && isLost(one))
  const gone = transfers.filter(isGone)
  const doubtful = transfers.filter((_, index) => latest[index] === 'delivered')
  const ended = transfers.filter((_, index) => isUndelivered(latest[index]))
  return { again: [...gone, ...(await undelivered(context, doubtful))], ended }
}

/**
 * Returns transfers whose delivery neither one node nor most nodes show at the next head. Leaves out transfers whose
 * delivery nodes cannot show now.
 */
export async function undelivered({ targets, stopping }: ScannedContext, doubtful: readonly Transfer[]): Promise<Transfer[]> {
  const names = [...new Set(doubtful.map(({ targetChain }) => targetChain))]
  await Promise.all(names.map((name) => ofChain(targets, { chain: name })).map(({ chain }) => nextHead(chain, stopping)))
  const shows = async (transfer: Transfer) => {
    const { endpoint } = ofChain(targets, { chain: transfer.targetChain })
    try {
      if ((await endpoint.mayShow?.(transfer)) === false) return true
      const shown = await Promise.all([endpoint.delivered(transfer, 'latest'), endpoint.delivered(transfer, 'agreed')])
      return shown.includes(true)
    } catch (error) {
      if (toRelayerError(error).code === 'NODES_DISAGREE') return true
      throw error
    }
  }
  const shown = await Promise.all(doubtful.map(shows))
  return doubtful.filter((_, index) => !shown[index])
}
