import type { Completion } from '../../bridges/source-port.ts'
import { toRelayerError } from '../../domain/errors.ts'
import { setOf } from '../../domain/stream/interval-set.ts'
import { haltOnMismatch, halt } from './halt-on-mismatch.ts'
import { finalizedOf, nextHead, viewOf } from './context.ts'
import type { ScannedContext } from './context.ts'

/** As with the scan, and later: nothing waits for it, and after a restart blocks without completions are read again quickly. */
const emptyMs = 15_000

/**
 * COMPLETE_EVENT_PROCESSING: completions in the next final blocks of the target, by whomever. Each is compared with the transfer that the source has under its
 * number, as far as it has one: another id halts the route, and resolves nothing.
 * @returns one look; true: there is more to read at once
 */
export function createCompletionFollower(context: ScannedContext): () => Promise<boolean> {
  const { streamClient, source, targetChain, cache, ranges, logger } = context
  const { stream } = source.config
  /** Read up to here, and told as far as anything was found. */
  let followed = -1
  let told = -1
  let toldAt = 0

  return async function follow() {
    const { targetHeight = -1 } = await viewOf(context)
    const era = streamClient.era
    // Temporal as it was: what was told since is lost.
    if (targetHeight < told) followed = -1
    told = targetHeight
    followed = Math.max(followed, targetHeight)
    const finalized = finalizedOf(targetChain)
    const to = Math.min(finalized, followed + ranges.target.blocks)
    if (to > followed) {
      const split = () => ranges.target.refused(to - followed)
      const found = await haltOnMismatch(context, targetChain, (at) => read(followed + 1, to, at), split)
      if (!found) return true
      if (found.length > 0) return tell(found, targetHeight, to, era)
      followed = to
    }
    if (followed > targetHeight && Date.now() - toldAt > emptyMs) return tell([], targetHeight, followed, era)
    return followed < finalized
  }

  async function tell(found: readonly Completion[], targetHeight: number, to: number, era: number): Promise<boolean> {
    const numbers = setOf(found.map(({ number }) => number))
    const answer = await streamClient.apply([{ kind: 'completed', numbers, from: targetHeight + 1, to }], era)
    if (!answer) return true
    const strange = found.filter(({ number }) => !cache.transfer(number))
    if (strange.length > 0)
      logger.error('completions of numbers that the source does not have', { stream, first: strange[0], count: strange.length })
    for (const { number } of found) cache.completed(number)
    followed = to
    told = answer.view.targetHeight ?? -1
    toldAt = Date.now()
    return to < finalizedOf(targetChain)
  }

  /** Undefined: the range was too long. */
  async function read(fromBlock: number, toBlock: number, at?: 'agreed'): Promise<readonly Completion[] | undefined> {
    const blocks = toBlock - fromBlock + 1
    let found: readonly Completion[]
    try {
      found = await source.completed({ fromBlock, toBlock }, at)
    } catch (error) {
      if (toRelayerError(error).code === 'NODE_REFUSED' && ranges.target.refused(blocks)) return undefined
      throw error
    }
    ranges.target.answered(blocks)
    const wrong = await contradicting(found)
    if (wrong.length === 0) return at === 'agreed' || found.length === 0 ? found : borneOut(fromBlock, toBlock)
    // Nodes limit ranges: all are asked for a single block.
    if (ranges.target.refused(blocks)) return undefined
    await nextHead(targetChain, context.stopping)
    const agreed = await source.completed({ fromBlock, toBlock }, 'agreed')
    const still = await contradicting(agreed)
    const [first] = still
    if (first) await halt(context, source.contradiction(first, cache.transfer(first.number)?.digest))
    // The others are as they should be; these resolve nothing, and whether their numbers are delivered is read by their ids.
    return agreed.filter(({ number }) => !still.some((one) => one.number === number))
  }

  /**
   * A completion resolves its number for good, which is not for one node to say. Undefined: shorter ranges are to be asked for, since most of the nodes may not
   * tell as long ones. Throws NODES_DISAGREE.
   */
  async function borneOut(fromBlock: number, toBlock: number): Promise<readonly Completion[] | undefined> {
    try {
      return await source.completed({ fromBlock, toBlock }, 'agreed')
    } catch (error) {
      const isLong =
        ['NODES_DISAGREE', 'NODE_REFUSED'].includes(toRelayerError(error).code) && ranges.target.refused(toBlock - fromBlock + 1)
      if (isLong) return undefined
      throw error
    }
  }

  /** Those that are not of the transfer that the source has under their number. */
  async function contradicting(found: readonly Completion[]): Promise<readonly Completion[]> {
    const unknown = found.filter(({ number }) => !cache.transfer(number)).map(({ number }) => number)
    const table = unknown.length > 0 ? await source.recorded(unknown, 'finalized') : []
    cache.know(table.flatMap((transfer) => transfer ?? []))
    const wrong = found.filter(({ number, digest }) => (cache.transfer(number)?.digest ?? digest) !== digest)
    if (wrong.length === 0) return []
    // What was known may be of before a fork: the table's word counts, by quorum.
    const recorded = await source.recorded(
      wrong.map(({ number }) => number),
      'agreed',
    )
    cache.know(recorded.flatMap((transfer) => transfer ?? []))
    return wrong.filter(({ digest }, index) => (recorded[index]?.digest ?? digest) !== digest)
  }
}
