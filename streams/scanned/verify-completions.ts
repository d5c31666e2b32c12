import { backoffMs } from '../../domain/backoff.ts'
import { seenRequest } from '../number-status.ts'
import { transfersUnder } from './outcomes.ts'
import type { ScannedContext } from './context.ts'

/** Not delivered yet by the nodes that were asked: asked again so late, twice as late each time, ms. */
const again = { firstMs: 1_000, mostMs: 60_000 } as const

/**
 * Open numbers whose completion was reported before they were seen at the source: whether they are delivered is read by their ids. Whichever
 * process saw the completion, and whichever the number, one of them finds it here.
 * @returns one look
 */
export function createVerifyCompletions(context: ScannedContext): () => Promise<boolean> {
  const { streamClient, source, cache } = context
  let tries = 0
  let dueAt = 0
  return async function verifyCompletions() {
    const { view, era } = streamClient
    if (!view || view.toVerify === 0) tries = dueAt = 0
    if (!view || view.toVerify === 0 || Date.now() < dueAt) return false
    dueAt = Date.now() + backoffMs(tries++, again.firstMs, again.mostMs)
    const { open = [] } = (await streamClient.state()) ?? {}
    const numbers = open.flatMap(({ number, early }) => (early ? [number] : []))
    const transfers = await transfersUnder(context, numbers)
    const shown = await source.delivered(transfers)
    const delivered = transfers.flatMap(({ sequence }, index) => (shown[index] ? [sequence] : []))
    if (delivered.length === 0) return false
    if (!(await streamClient.apply([seenRequest(delivered.map((number) => [number, 'delivered']))], era))) return false
    for (const number of delivered) cache.completed(number)
    return false
  }
}
