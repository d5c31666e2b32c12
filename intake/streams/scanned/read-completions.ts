import type { Completion } from '../../../bridges/source-port.ts'
import { toRelayerError } from '../../../domain/catalogue/errors.ts'
import { nextHead, type ScannedContext } from './context.ts'
import { halt, haltOnMismatch } from './halt-on-mismatch.ts'
import { recordedTransfers, transfersUnder } from './transfers.ts'

/**
 * Completions in these blocks of the target, on the word of more than half of its nodes. Each is compared with the transfer that the source has under its
 * number, if it has one: another id halts the route, and is left out. Undefined: the range was too long, shorter ones come next.
 */
export async function readCompletions(
  context: ScannedContext,
  fromBlock: number,
  toBlock: number,
): Promise<readonly Completion[] | undefined> {
  const { source, targetChain, ranges, cache, stopping } = context
  const range = { fromBlock, toBlock }
  const split = () => ranges.target.refused(toBlock - fromBlock + 1)

  async function read(at?: 'agreed'): Promise<readonly Completion[] | undefined> {
    const found = await splitOn(['NODE_REFUSED'], split, () => source.completed(range, at))
    if (!found) return undefined
    ranges.target.answered(toBlock - fromBlock + 1)
    const wrong = await contradicting(context, found)
    // A completion resolves its number for good, which one node cannot decide.
    if (wrong.length === 0) return at === 'agreed' || found.length === 0 ? found : readAgreed()
    // Most of the nodes may refuse a long range: for them it is a single block.
    if (split()) return undefined
    await nextHead(targetChain, stopping)
    const agreed = await source.completed(range, 'agreed')
    const still = await contradicting(context, agreed)
    const [first] = still
    if (first) await halt(context, source.contradiction(first, cache.transfer(first.number)?.digest))
    // Those that contradict resolve nothing: whether their numbers are delivered is read by their ids.
    return agreed.filter(({ number }) => !still.some((one) => one.number === number))
  }

  const readAgreed = () => splitOn(['NODES_DISAGREE', 'NODE_REFUSED'], split, () => source.completed(range, 'agreed'))

  return haltOnMismatch(context, targetChain, read, split)
}

/** Undefined: it failed with one of these codes, and the range can be split. */
async function splitOn<T>(codes: readonly string[], split: () => boolean, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (codes.includes(toRelayerError(error).code) && split()) return undefined
    throw error
  }
}

/** Those that are not of the transfer that the source has under their number. */
async function contradicting(context: ScannedContext, found: readonly Completion[]): Promise<readonly Completion[]> {
  const { cache } = context
  const numbersOf = (some: readonly Completion[]) => some.map(({ number }) => number)
  await transfersUnder(context, numbersOf(found))
  const wrong = found.filter(({ number, digest }) => (cache.transfer(number)?.digest ?? digest) !== digest)
  // The cached transfer may be of before a fork: the table decides, by quorum.
  const recorded = await recordedTransfers(context, numbersOf(wrong), 'agreed')
  return wrong.filter((one) => recorded.some(({ sequence, digest }) => sequence === one.number && digest !== one.digest))
}
