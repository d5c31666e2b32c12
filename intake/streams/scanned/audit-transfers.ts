import { toRelayerError } from '../../../domain/catalogue/errors.ts'
import { intervalsOutside } from '../../../domain/stream/outside-window.ts'
import { setOf, subtractNumbers, takeNumbers } from '../../../domain/stream/intervals.ts'
import { isResolved } from '../../../domain/stream/numbers.ts'
import type { StreamRequest } from '../../../domain/stream/stream.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { latestRun } from '../../../temporal/client/transfers/closed-runs.ts'
import type { ListedTransfer } from '../../../temporal/client/streams/stream-transfers.ts'
import { transferId } from '../../../temporal/contracts/names.ts'
import { mapLimited } from '../../../runtime/map-limited.ts'
import { seenRequests, withStatus } from '../number-status.ts'
import { closedRequests, isUndelivered } from '../transfer-outcomes.ts'
import { nextHead, type ScannedContext } from './context.ts'
import { startAgain } from './start-transfers.ts'
import { numberOf, recordedTransfers, splitByDelivery } from './transfers.ts'

/** Result of one audit, in numbers. */
export interface StreamAudit {
  /** The source's own count. Absent: none yet, or it could not be read. */
  upTo?: string
  height?: number
  gaps: number
  /** Open numbers that were found delivered, started again, or found ended undelivered. */
  completed: number
  started: number
  closed: number
  /** Deliveries that are gone: started again. */
  undone: number
}

const readsAtOnce = 20
/** Most running transfers with a resolved number, and most numbers outside the window, that one audit checks. */
const mostResumed = 500

/**
 * Backs TIMEOUT: every open number has a running workflow, is delivered, or gets its outcome recorded.
 * A transfer closed as delivered starts again if the target does not show it at two blocks.
 */
export async function auditOpen(
  context: ScannedContext,
  running: readonly ListedTransfer[],
  audit: StreamAudit,
  at: 'finalized' | 'agreed' = 'finalized',
): Promise<void> {
  const { streamClient, source, cache, logger } = context
  const era = streamClient.era
  const state = await streamClient.state()
  if (!state) return
  const ids = new Set(running.map(({ id }) => id))
  // A running transfer finds its outcome by itself, so the audit costs the same however long transfers run.
  const runs = (number: string) => {
    const transfer = cache.transfer(number)
    return transfer !== undefined && ids.has(transferId(transfer))
  }
  const runningNumbers = running.map(({ number }) => BigInt(number))
  // A running transfer with the number is enough, and the lowest numbers without one come first.
  const outside = intervalsOutside(state).flatMap((all) => takeNumbers(subtractNumbers(all, runningNumbers), 0n, mostResumed).map(String))
  const open = state.open.map(({ number }) => number).filter((number) => !runs(number))
  const numbers = [...open, ...outside.slice(0, mostResumed)]
  if (numbers.length === 0) return
  const { delivered, missing } = await splitByDelivery(context, await recordedTransfers(context, numbers, at))
  const stopped = missing.filter((transfer) => !ids.has(transferId(transfer)))
  const { again, ended } = await sortClosed(context, stopped)
  await mapLimited(again, readsAtOnce, (transfer) => startAgain(context, transfer))
  const seen = [...withStatus('delivered', delivered.map(numberOf)), ...withStatus('started', again.map(numberOf))]
  const requests = [...seenRequests(seen), ...ended]
  if (requests.length > 0 && !(await streamClient.apply(requests, era))) return
  for (const { sequence } of delivered) cache.completed(sequence)
  audit.completed += delivered.length
  audit.started += again.length
  audit.closed += ended.length
  if (again.length > 0)
    logger.warn('open numbers had no workflow and are started again', {
      code: 'TRANSFERS_LOST',
      ...{ stream: source.config.stream, count: again.length, lowest: again[0]?.sequence },
    })
}

async function sortClosed(
  context: ScannedContext,
  transfers: readonly Transfer[],
): Promise<{ again: readonly Transfer[]; ended: readonly StreamRequest[] }> {
  const { client } = context
  const latest = await mapLimited(transfers, readsAtOnce, (transfer) => latestRun(client, transferId(transfer)))
  const gone = transfers.filter((_, index) => latest[index] === 'gone' || latest[index] === 'undone')
  const doubtful = transfers.filter((_, index) => latest[index] === 'delivered')
  const ended = transfers.filter((_, index) => isUndelivered(latest[index]))
  const closed = ended.map((transfer) => ({ id: transferId(transfer), number: transfer.sequence }))
  return { again: [...gone, ...(await undelivered(context, doubtful))], ended: await closedRequests(client, closed) }
}

/** Absent at the target a block later, at its head and finalized, by quorum. Disagreeing nodes count as showing it. */
async function undelivered(
  { endpoint, targetChain, stopping }: ScannedContext,
  doubtful: readonly Transfer[],
): Promise<readonly Transfer[]> {
  if (doubtful.length === 0) return []
  await nextHead(targetChain, stopping)
  const shows = async (transfer: Transfer) => {
    try {
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

/** Checks recent deliveries and restarted ones. One that is gone at two blocks is recorded as undone: a gap. */
export async function auditCompleted(context: ScannedContext, running: readonly ListedTransfer[], audit: StreamAudit): Promise<void> {
  const { streamClient, source, cache, logger } = context
  const era = streamClient.era
  const state = await streamClient.state()
  if (!state) return
  const again = running.filter((one) => one.state !== 'parked' && isResolved(state, one.number)).slice(0, mostResumed)
  const resumed = await recordedTransfers(context, [...new Set(again.map(({ number }) => number))])
  const latest = cache.completions.filter(({ sequence }) => isResolved(state, sequence))
  const all = [...new Map([...resumed, ...latest].map((transfer) => [transfer.sequence, transfer])).values()]
  const gone = await undelivered(context, (await splitByDelivery(context, all)).missing)
  if (gone.length === 0) return
  const numbers = setOf(gone.map(({ sequence }) => sequence))
  if (!(await streamClient.apply([{ kind: 'undone', numbers }], era))) return
  for (const { sequence } of gone) cache.undone(sequence)
  audit.undone += gone.length
  logger.error('deliveries are gone from the target, which was reorganised below finality; the transfers are started again', {
    code: 'EFFECT_UNDONE',
    stream: source.config.stream,
    count: gone.length,
    lowest: numbers[0]?.[0],
  })
}
