import { problemOf } from '../../../observability/severity.ts'
import type { BlockRange, PlacedTransfer } from '../../../bridges/port.ts'
import { toRelayerError } from '../../../domain/catalogue/errors.ts'
import { compare } from '../../../domain/stream/gaps.ts'
import { hasNumber, setOf } from '../../../domain/stream/intervals.ts'
import { mostOfUpdate } from '../../../domain/stream/request.ts'
import { isStarted, isUnresolved, isWanted, room } from '../../../domain/stream/numbers.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import type { Finding, Reading, StreamState } from '../../../domain/stream/stream.ts'
import type { ReadingContext } from './context.ts'
import { haltOnMismatch } from './halt-on-mismatch.ts'
import { latestRuns, splitByDelivery, startAll } from './transfers.ts'

type Placed = readonly PlacedTransfer[]

const mostNumbers = 2_000
const roomMs = 2_000

/**
 * Reads a range and starts its transfers. Returns `too-long` if the caller must read a shorter range, and `gone` if the
 * caller must record nothing. Throws contradictions and read errors.
 * @param live true for new blocks, whose deliveries later completions at the target will show
 */
export async function readRange(context: ReadingContext, range: BlockRange, live: boolean, era: number) {
  const { sourceChain, ranges } = context
  const read = async (at?: 'agreed') => {
    const placed = await readTransfers(context, range, at)
    return placed && ((await startWanted(context, placed, live, era)) ?? 'gone')
  }
  const split = () => ranges.source.refused(range.toBlock - range.fromBlock + 1)
  return (await haltOnMismatch(context, sourceChain, read, split)) ?? 'too-long'
}

async function readTransfers(context: ReadingContext, range: BlockRange, at?: 'agreed'): Promise<Placed | undefined> {
  const { source, ranges, alarms, logger } = context
  const blocks = range.toBlock - range.fromBlock + 1
  try {
    const placed = await source.initiated(range, at)
    if (placed.length > mostNumbers && ranges.source.refused(blocks)) return undefined
    ranges.source.answered(blocks)
    alarms.delete('refused')
    return placed
  } catch (thrown) {
    const error = toRelayerError(thrown)
    // Most nodes may have refused the range, or a lying node's answer and the refusal of an honest node may differ.
    const isDisagreed = error.code === 'NODES_DISAGREE'
    if (error.code !== 'NODE_REFUSED' && !isDisagreed) throw error
    const facts = { stream: source.config.stream, ...range, ...problemOf(error) }
    if (ranges.source.refused(blocks)) {
      logger.debug('the nodes refuse the logs of a range; asking for half of the range', facts)
      return undefined
    }
    if (isDisagreed) throw error
    alarms.add('refused')
    logger.error('the nodes refuse the logs of a single block: the stream cannot pass this block', facts)
    throw error
  }
}

/**
 * Starts the transfers in parts that fit the free places of the stream, and records each part except the last. Returns
 * undefined if the stream is paused or gone, if it went back to an earlier state, or if the agent stops.
 */
async function startWanted(context: ReadingContext, placed: Placed, live: boolean, era: number): Promise<Reading | undefined> {
  if (placed.length === 0) return { numbers: [], passed: [] }
  const { streamClient, stopping, source } = context
  const delivered = new Set<string>()
  const asked = new Set<string>()
  const places = new Map(placed.map((one) => [one.transfer.sequence, one]))
  // The stream wants a number of an unread block again after its transfer has ended, so recorded parts are left out.
  const recorded = new Set<PlacedTransfer>()
  while (!stopping.aborted && streamClient.era === era) {
    const state = await streamClient.state()
    if (!state || state.paused || streamClient.era !== era) return undefined
    // Old numbers may be delivered already, so the target is read for them. In a placed stream, numbers below `next`
    // (recorded before the cursor reached them) are old too, because no completion event reports their delivery.
    const isOld = (number: string) => !live || (source.config.placed === true && compare(number, state.next) < 0)
    const isDue = (number: string) => hasNumber(state.unknownCompletions, number) || (isOld(number) && !asked.has(number))
    const left = placed.filter((one) => !recorded.has(one))
    const wanted = left.filter(({ transfer }) => isWanted(state, transfer.sequence))
    const isMissing = ({ transfer }: PlacedTransfer) => !delivered.has(transfer.sequence)
    const unread = wanted.filter((one) => isMissing(one) && isDue(one.transfer.sequence)).map(({ transfer }) => transfer)
    for (const { sequence } of unread) asked.add(sequence)
    for (const { sequence } of (await splitByDelivery(context, unread)).delivered) delivered.add(sequence)
    const part = fits(state, wanted, delivered)
    const originOf = ({ sequence }: Transfer) => {
      const { height = Infinity, txHash } = places.get(sequence) ?? {}
      return { seenAt: live ? context.finality.since(height) : undefined, sourceTxHash: txHash }
    }
    const due = part.filter(isMissing).map(({ transfer }) => transfer)
    const over = await startAll(context, due, originOf)
    const found = finding(part, delivered)
    if (part.length === wanted.length && over.length === 0) {
      const forgotten = await forgottenOf(context, state, [...recorded].filter(isMissing))
      for (const one of forgotten) recorded.delete(one)
      if (forgotten.length > 0) continue
      const passed = left.filter((one) => !wanted.includes(one))
      return { ...found, passed: setOf(passed.map(({ transfer }) => transfer.sequence)) }
    }
    if (part.length === 0) await streamClient.changed(roomMs)
    else {
      const response = await streamClient.apply([{ kind: 'seen', ...found }], era)
      for (let from = 0; from < over.length; from += mostOfUpdate.requests)
        await streamClient.apply(over.slice(from, from + mostOfUpdate.requests), era)
      if (response?.answers[0]?.kind === 'done') for (const one of part) recorded.add(one)
    }
  }
  return undefined
}

/**
 * Finds recorded transfers that neither the stream nor Temporal knows. A restore of Temporal may leave the cursor as it
 * was, and then the era does not show the restore.
 */
async function forgottenOf({ client }: ReadingContext, state: StreamState, recorded: Placed): Promise<Placed> {
  const doubtful = recorded.filter(({ transfer: { sequence } }) => isWanted(state, sequence) && !isUnresolved(state, sequence))
  const latest = await latestRuns(
    client,
    doubtful.map(({ transfer }) => transfer),
  )
  return doubtful.filter((_, index) => latest[index] === 'gone')
}

function fits(state: StreamState, wanted: Placed, delivered: ReadonlySet<string>): Placed {
  let free = room(state)
  const end = wanted.findIndex(({ transfer }, index) => {
    if (index >= mostNumbers) return true
    return !delivered.has(transfer.sequence) && !isStarted(state, transfer.sequence) && --free < 0
  })
  return end < 0 ? wanted : wanted.slice(0, end)
}

function finding(placed: Placed, delivered: ReadonlySet<string>): Finding {
  const done = setOf(placed.map(({ transfer }) => transfer.sequence).filter((number) => delivered.has(number)))
  const numbers = placed.map(({ transfer, height }) => [transfer.sequence, height] as const)
  return { numbers, ...(done.length > 0 && { delivered: done }) }
}
