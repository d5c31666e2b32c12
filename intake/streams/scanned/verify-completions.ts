import { backoffMs } from '../../../domain/backoff.ts'
import type { Step } from '../loop.ts'
import { seenRequests, withStatus } from '../number-status.ts'
import type { ScannedContext } from './context.ts'
import { splitByDelivery, transfersUnder } from './transfers.ts'

/** Waits until the target shows a delivery, ms. */
const again = { firstMs: 1_000, mostMs: 60_000 } as const

/** Reads early open numbers by id: their completions were reported before they were seen at the source. */
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
    if (Date.now() < dueAt) return false
    dueAt = Date.now() + backoffMs(tries++, again.firstMs, again.mostMs)
    const { open = [] } = (await streamClient.state()) ?? {}
    const early = open.flatMap((one) => (one.early ? [one.number] : []))
    const { delivered } = await splitByDelivery(context, await transfersUnder(context, early))
    if (delivered.length === 0) return false
    const numbers = delivered.map(({ sequence }) => sequence)
    if (await streamClient.apply(seenRequests(withStatus('delivered', numbers)), era)) numbers.forEach(cache.completed)
    return false
  }
}
