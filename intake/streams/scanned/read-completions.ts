import type { Completion } from '../../../bridges/port.ts'
import { toRelayerError } from '../../../domain/catalogue/errors.ts'
import { nextHead, type ScannedContext } from './context.ts'
import { halt, haltOnMismatch } from './halt-on-mismatch.ts'
import { recordedTransfers, transfersUnder } from './transfers.ts'

/** Completions in target blocks, by most nodes. A different id halts the route. Undefined: the range was too long. */
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
    // A completion resolves its number for good: one node cannot decide that.
    if (wrong.length === 0) return at === 'agreed' || found.length === 0 ? found : readAgreed()
    // Most nodes may refuse a long range, so they are asked for a single block.
    if (split()) return undefined
    await nextHead(targetChain, stopping)
    const agreed = await source.completed(range, 'agreed')
    const still = await contradicting(context, agreed)
    const [first] = still
    if (first) await halt(context, source.contradiction(first, cache.transfer(first.number)?.digest))
    // A contradicting completion resolves nothing. The delivery of its number is read by its id.
    return agreed.filter(({ number }) => !still.some((one) => one.number === number))
  }

  const readAgreed = () => splitOn(['NODES_DISAGREE', 'NODE_REFUSED'], split, () => source.completed(range, 'agreed'))

  return haltOnMismatch(context, targetChain, read, split)
}

/** Undefined: the read failed with one of these codes, and is split. */
async function splitOn<T>(codes: readonly string[], split: () => boolean, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (codes.includes(toRelayerError(error).code) && split()) return undefined
    throw error
  }
}

async function contradicting(context: ScannedContext, found: readonly Completion[]): Promise<readonly Completion[]> {
  const { cache } = context
  const numbersOf = (some: readonly Completion[]) => some.map(({ number }) => number)
  await transfersUnder(context, numbersOf(found))
  const wrong = found.filter(({ number, digest }) => (cache.transfer(number)?.digest ?? digest) !== digest)
  // The cached transfer may be older than a fork. The table decides, by quorum.
  const recorded = await recordedTransfers(context, numbersOf(wrong), 'agreed')
  return wrong.filter((one) => recorded.some(({ sequence, digest }) => sequence === one.number && digest !== one.digest))
}
