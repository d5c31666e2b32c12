import type { BlockRange, Completion } from '../../../bridges/port.ts'
import { setOf } from '../../../domain/stream/intervals.ts'
import type { Step } from '../loop.ts'
import { finalizedOf, nextHead, type Route, type ScannedContext, viewOf } from './context.ts'
import { toRelayerError } from '../../../domain/catalogue/errors.ts'
import { halt, haltOnMismatch } from './halt-on-mismatch.ts'
import { numberOf, recordedTransfers, splitByDelivery, transfersUnder } from './transfers.ts'
import { backoffMs } from '../../../domain/backoff.ts'
import { seenRequests, withStatus } from '../number-status.ts'

/** Interval (ms) at which blocks without completions are recorded. A restart reads unrecorded blocks again. */
const emptyMs = 15_000

/** Reports completions by any account to the stream (MIP-61's COMPLETE_EVENT_PROCESSING). */
export function createCompletionFollower(context: ScannedContext, route: Route): Step {
  const { streamClient, source, cache, ranges, logger } = context
  const { target } = route
  const { stream } = source.config
  let followed = -1
  let recorded = -1
  let recordedAt = -Infinity

  async function record(found: readonly Completion[], targetHeight: number, to: number, era: number): Promise<boolean> {
    const numbers = setOf(found.map(({ number }) => number))
    const response = await streamClient.apply([{ kind: 'completed', numbers, from: targetHeight + 1, to }], era)
    if (!response) return true
    const unknown = found.filter(({ number }) => !cache.transfer(number))
    const facts = { stream, lowest: unknown[0]?.number, count: unknown.length }
    if (facts.count > 0) logger.error('the target has numbers that the source does not have', { code: 'COMPLETIONS_UNKNOWN', ...facts })
    for (const { number } of found) cache.completed(number)
    followed = to
    recorded = response.view.targetHeight ?? -1
    recordedAt = performance.now()
    return to < finalizedOf(target)
  }

  return async function followCompletions() {
    const { targetHeight = -1 } = await viewOf(context)
    const era = streamClient.era
    // The stream went back: Temporal was restored from a backup, and later records are lost.
    if (targetHeight < recorded) followed = -1
    recorded = targetHeight
    followed = Math.max(followed, targetHeight)
    const finalized = finalizedOf(target)
    const to = Math.min(finalized, followed + ranges.target.blocks)
    if (to > followed) {
      const found = await readCompletions(context, route, { fromBlock: followed + 1, toBlock: to })
      if (!found) return true
      if (found.length > 0) return record(found, targetHeight, to, era)
      followed = to
    }
    if (followed > targetHeight && performance.now() - recordedAt > emptyMs) return record([], targetHeight, followed, era)
    return followed < finalized
  }
}

/** The completions in a range. Undefined if the range was split. */
async function readCompletions(context: ScannedContext, route: Route, range: BlockRange): Promise<readonly Completion[] | undefined> {
  const { ranges, cache, stopping } = context
  const { source, target } = route
  const blocks = range.toBlock - range.fromBlock + 1

  const split = () => ranges.target.refused(blocks)

  async function read(at?: 'agreed'): Promise<readonly Completion[] | undefined> {
    const shown = await splitOn(['NODE_REFUSED'], split, () => source.completed(range, at))
    // A completion resolves its number for good, so most nodes must show it. One node may also invent contradictions.
    const found = shown && shown.length > 0 && at === undefined ? await readAgreed() : shown
    if (!found) return undefined
    ranges.target.answered(blocks)
    if ((await contradicting(context, found)).length === 0) return found
    // Most nodes may refuse a long range.
    if (split()) return undefined
    await nextHead(target, stopping)
    const agreed = await source.completed(range, 'agreed')
    const still = await contradicting(context, agreed)
    const [first] = still
    if (first) await halt(context, route, source.contradiction(first, cache.transfer(first.number)?.digest))
    // Leaves out contradicting completions. Audits ask the target, by the transfer's id, whether such a number is
    // delivered.
    return agreed.filter(({ number }) => !still.some((one) => one.number === number))
  }

  const readAgreed = () => splitOn(['NODES_DISAGREE', 'NODE_REFUSED'], split, () => source.completed(range, 'agreed'))

  return haltOnMismatch(context, target, read, split)
}

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
  // The cached transfer may be from before a fork.
  const recorded = await recordedTransfers(context, numbersOf(wrong), 'agreed')
  return wrong.filter((one) => recorded.some(({ sequence, digest }) => sequence === one.number && digest !== one.digest))
}

const again = { firstMs: 1_000, mostMs: 60_000 } as const

/** Verifies completions that arrived before the source showed their numbers (`early`). */
export function createCompletionVerifier(context: Pick<ScannedContext, 'streamClient' | 'source' | 'cache'>): Step {
  const { streamClient, cache } = context
  let tries = 0
  let dueAt = 0
  return async function verifyCompletions() {
    const { view, era } = streamClient
    if (!view || view.toVerify === 0) {
      tries = dueAt = 0
      return false
    }
    if (performance.now() < dueAt) return false
    dueAt = performance.now() + backoffMs(tries++, again.firstMs, again.mostMs)
    const { open = [] } = (await streamClient.state()) ?? {}
    const early = open.flatMap((one) => (one.early ? [one.number] : []))
    const { delivered } = await splitByDelivery(context, await transfersUnder(context, early))
    if (delivered.length === 0) return false
    const numbers = delivered.map(numberOf)
    if (await streamClient.apply(seenRequests(withStatus('delivered', numbers)), era)) numbers.forEach(cache.completed)
    return false
  }
}
