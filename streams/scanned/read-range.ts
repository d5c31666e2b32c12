import type { BlockRange, PlacedTransfer } from '../../bridges/source-port.ts'
import { toRelayerError } from '../../domain/errors.ts'
import { hasNumber, setOf } from '../../domain/stream/interval-set.ts'
import { isWanted, room } from '../../domain/stream/numbers.ts'
import type { Reading, StreamState } from '../../domain/stream/stream.ts'
import { haltOnMismatch } from './halt-on-mismatch.ts'
import { startAll } from './start-transfers.ts'
import type { ScannedContext } from './context.ts'

/** Numbers that are told at once: far below an update's limit. */
const mostNumbers = 2_000
/** How long a full stream is waited for before it is asked again, ms. Whatever it is told wakes it sooner. */
const roomMs = 2_000

/**
 * Reads the transfers of a range and starts those that are wanted. `too-long`: nothing was done, shorter ranges come next. `gone`: the stream went back, is
 * paused, or gone; nothing of the range may be told. Throws NODE_REFUSED for a single block, what contradicts itself by quorum, and what reads throw.
 * @param live and `era` as of `startWanted`
 */
export async function readRange(
  context: ScannedContext,
  range: BlockRange,
  live: boolean,
  era: number,
): Promise<Reading | 'too-long' | 'gone'> {
  const taken = await haltOnMismatch(
    context,
    context.sourceChain,
    async (at) => {
      const placed = await readTransfers(context, range, at)
      return placed ? ((await startWanted(context, placed, live, era)) ?? 'gone') : 'too-long'
    },
    () => context.ranges.source.refused(range.toBlock - range.fromBlock + 1),
  )
  return taken ?? 'too-long'
}

/** Undefined: it was too long, and shorter ones come next. */
async function readTransfers(context: ScannedContext, range: BlockRange, at?: 'agreed'): Promise<readonly PlacedTransfer[] | undefined> {
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
    if (error.code !== 'NODE_REFUSED') throw error
    const facts = { stream: source.config.stream, ...range, reason: error.message }
    if (ranges.source.refused(blocks)) {
      logger.debug('a node refused the logs of a range; asking for half of it', facts)
      return undefined
    }
    alarms.add('refused')
    logger.error('the nodes refuse the logs of a single block: the stream cannot go past it', facts)
    throw error
  }
}

/**
 * Starts what the logs show and the stream wants, in order, as far as there is room: those for which there is none wait here, and so does the cursor. What
 * is delivered already needs no workflow and no room. Undefined: the stream went back, is paused, or gone; nothing of the reading may be told.
 * @param live blocks of just now: what completed them is told by the target, nobody asks for each
 * @param era of the stream client when the reading began
 */
async function startWanted(
  context: ScannedContext,
  placed: readonly PlacedTransfer[],
  live: boolean,
  era: number,
): Promise<Reading | undefined> {
  if (placed.length === 0) return { numbers: [], passed: [] }
  const { streamClient, stopping } = context
  const over = new Set<string>()
  const asked = new Set<string>()
  while (!stopping.aborted && streamClient.era === era) {
    const state = await streamClient.state()
    if (!state || state.paused || streamClient.era !== era) return undefined
    const wanted = placed.filter(({ transfer }) => isWanted(state, transfer.sequence))
    const isDue = (number: string) => hasNumber(state.unknownCompletions, number) || (!live && !asked.has(number))
    const due = wanted.map(({ transfer }) => transfer).filter(({ sequence }) => !over.has(sequence) && isDue(sequence))
    const shown = due.length > 0 ? await context.source.delivered(due) : []
    due.forEach(({ sequence }, index) => (shown[index] ? over : asked).add(sequence))
    const fitting = fits(state, wanted, over)
    const isWhole = fitting.length === wanted.length
    const some = isWhole ? wanted : fitting.filter(({ transfer }) => !isOpen(state, transfer.sequence))
    await startAll(
      context,
      some.map(({ transfer }) => transfer).filter(({ sequence }) => !over.has(sequence)),
    )
    if (isWhole) {
      const passed = placed.filter((one) => !wanted.includes(one))
      return { ...finding(wanted, over), passed: setOf(passed.map(({ transfer }) => transfer.sequence)) }
    }
    if (some.length === 0) await streamClient.changed(roomMs)
    else await streamClient.apply([{ kind: 'seen', ...finding(some, over) }], era)
  }
  return undefined
}

/** The first of them, in order, so that no number is skipped: as many as there is room for, and as fit into an update. */
function fits(state: StreamState, wanted: readonly PlacedTransfer[], over: ReadonlySet<string>): readonly PlacedTransfer[] {
  let free = room(state)
  const end = wanted.findIndex(({ transfer }, index) => {
    if (index >= mostNumbers) return true
    return !over.has(transfer.sequence) && !isOpen(state, transfer.sequence) && --free < 0
  })
  return end < 0 ? wanted : wanted.slice(0, end)
}

function finding(some: readonly PlacedTransfer[], over: ReadonlySet<string>) {
  const delivered = setOf(some.map(({ transfer }) => transfer.sequence).filter((number) => over.has(number)))
  return { numbers: some.map(({ transfer, height }) => [transfer.sequence, height] as const), ...(delivered.length > 0 && { delivered }) }
}

const isOpen = ({ open }: StreamState, number: string) => open.some((one) => one.number === number)
