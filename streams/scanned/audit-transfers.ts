import { toRelayerError } from '../../domain/errors.ts'
import { setOf } from '../../domain/stream/interval-set.ts'
import { isResolved } from '../../domain/stream/numbers.ts'
import type { StreamRequest } from '../../domain/stream/stream.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { latestRun } from '../../temporal/client/closed-transfers.ts'
import { forEachLimited } from '../for-each-limited.ts'
import { seenRequest } from '../number-status.ts'
import type { ListedTransfer } from '../../temporal/client/stream-transfers.ts'
import { closedRequest } from './outcomes.ts'
import { startAgain } from './start-transfers.ts'
import { nextHead } from './context.ts'
import type { ScannedContext } from './context.ts'

/** What one audit of a stream found and did. Counts of numbers. */
export interface StreamAudit {
  /** The source's own count; absent: it has none yet, or it could not be read. */
  upTo?: string
  /** Final block of the source at which it was read. */
  height?: number
  /** Numbers in gaps, after the count was told. */
  gaps: number
  /** Open ones: found delivered; started again; found ended undelivered. */
  completed: number
  started: number
  closed: number
  /** Delivered before, and not any more: started again. */
  undone: number
}

const askedAtOnce = 20
/** Resolved numbers whose transfers run: so many of them are looked at in one audit. */
const mostRunning = 500

/**
 * TIMEOUT's last net: every open number has a workflow that runs, or is delivered, or is told how it ended. What is gone, closed undone, or closed as
 * delivered while the target at two blocks does not show it, is started again.
 */
export async function auditOpen(
  context: ScannedContext,
  running: readonly ListedTransfer[],
  audit: StreamAudit,
  at: 'finalized' | 'agreed' = 'finalized',
): Promise<void> {
  const { streamClient, source, cache } = context
  const era = streamClient.era
  const { open = [] } = (await streamClient.state()) ?? {}
  const ids = new Set(running.map(({ id }) => id))
  // A transfer that runs finds out by itself what became of it: what it costs to ask for it does not grow with the time that it takes.
  const runs = (number: string) => {
    const transfer = cache.transfer(number)
    return transfer !== undefined && ids.has(transferId(transfer))
  }
  const numbers = open.map(({ number }) => number).filter((number) => !runs(number))
  if (numbers.length === 0) return
  const known = (await source.recorded(numbers, at)).flatMap((transfer) => transfer ?? [])
  cache.know(known)
  const shown = await source.delivered(known)
  const delivered = known.filter((_, index) => shown[index])
  const away = known.filter((transfer, index) => !shown[index] && !ids.has(transferId(transfer)))
  const { again, ended } = await sorted(context, away)
  await forEachLimited(again, askedAtOnce, async (transfer) => void (await startAgain(context, transfer)))
  const seen = [
    ...delivered.map(({ sequence }) => [sequence, 'delivered'] as const),
    ...again.map(({ sequence }) => [sequence, 'started'] as const),
  ]
  const requests = [...(seen.length > 0 ? [seenRequest(seen)] : []), ...ended]
  if (requests.length > 0 && !(await streamClient.apply(requests, era))) return
  for (const { sequence } of delivered) cache.completed(sequence)
  audit.completed += delivered.length
  audit.started += again.length
  audit.closed += ended.length
  if (again.length > 0)
    context.logger.warn('open numbers had no workflow; they are started again', { stream: source.config.stream, transfers: again.length })
}

/** Those that do not run by the visibility store, by the server's own word. */
async function sorted(
  context: ScannedContext,
  away: readonly Transfer[],
): Promise<{ again: readonly Transfer[]; ended: readonly StreamRequest[] }> {
  const again: Transfer[] = []
  const doubtful: Transfer[] = []
  const ended: StreamRequest[] = []
  await forEachLimited(away, askedAtOnce, async (transfer) => {
    const id = transferId(transfer)
    const latest = await latestRun(context.client, id)
    if (latest === 'gone' || latest === 'undone') again.push(transfer)
    else if (latest === 'delivered') doubtful.push(transfer)
    else if (latest !== 'running') {
      const request = await closedRequest(context, { id, running: false, number: transfer.sequence })
      if (request) ended.push(request)
    }
  })
  return { again: [...again, ...(await undelivered(context, doubtful))], ended }
}

/** Those that the target does not show a block later either, neither at its head nor in its finalized state by quorum. Nodes that disagree: not yet. */
async function undelivered(
  { endpoint, targetChain, stopping }: ScannedContext,
  doubtful: readonly Transfer[],
): Promise<readonly Transfer[]> {
  if (doubtful.length === 0) return []
  await nextHead(targetChain, stopping)
  const shows = async (transfer: Transfer) => {
    try {
      const looks = await Promise.all([endpoint.delivered(transfer, 'latest'), endpoint.delivered(transfer, 'agreed')])
      return looks.includes(true)
    } catch (error) {
      if (toRelayerError(error).code === 'NODES_DISAGREE') return true
      throw error
    }
  }
  const shown = await Promise.all(doubtful.map(shows))
  return doubtful.filter((_, index) => !shown[index])
}

/**
 * What was delivered lately, as far as this process knows it, and what runs again although it is resolved (the audit of deliveries starts again what a reorg
 * deeper than finality undid): not delivered at two blocks, it is told, and the gap that this makes is started.
 */
export async function auditCompleted(context: ScannedContext, running: readonly ListedTransfer[], audit: StreamAudit): Promise<void> {
  const { streamClient, source, cache, logger } = context
  const era = streamClient.era
  const state = await streamClient.state()
  if (!state) return
  const again = running.filter((one) => one.state !== 'parked' && isResolved(state, one.number)).slice(0, mostRunning)
  const resumed = (await source.recorded([...new Set(again.map(({ number }) => number))], 'finalized')).flatMap(
    (transfer) => transfer ?? [],
  )
  const lately = cache.completions.filter(({ sequence }) => isResolved(state, sequence))
  const all = [...new Map([...resumed, ...lately].map((transfer) => [transfer.sequence, transfer])).values()]
  if (all.length === 0) return
  const shown = await source.delivered(all)
  const missing = await undelivered(
    context,
    all.filter((_, index) => !shown[index]),
  )
  if (missing.length === 0) return
  const numbers = missing.map(({ sequence }) => sequence).sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  if (!(await streamClient.apply([{ kind: 'undone', numbers: setOf(numbers) }], era))) return
  for (const number of numbers) cache.undone(number)
  audit.undone += numbers.length
  logger.error('what had completed transfers is gone from the target: it was reorganised deeper than finality; they are started again', {
    stream: source.config.stream,
    transfers: numbers.length,
    first: numbers[0],
  })
}
