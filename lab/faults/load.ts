import { indexesOf, sendWish, wishOf, type BridgeChoice } from '../demo/load.ts'
import type { ChainKey, FaultTargets } from './fault-targets.ts'

/** At most so many of one direction at once: what fits into few blocks. */
const burst = 60

/** Users' transfers from both chains, spread evenly over a time. Resolves when all are sent and mined. */
export async function sendOver(targets: FaultTargets, bridge: BridgeChoice, transfers: number, durationMs: number): Promise<void> {
  const started = Date.now()
  const sources: readonly ChainKey[] = ['ethereum', 'bsc']
  await Promise.all(
    sources.map(async (source) => {
      const own = indexesOf(source, transfers)
      for (let at = 0; at < own.length;) {
        const due = Math.ceil(own.length * Math.min(1, (Date.now() - started) / durationMs + 0.01) - at)
        if (due <= 0) {
          await targets.wait(100)
          continue
        }
        const wish = wishOf(bridge, own.slice(at, at + Math.min(due, burst)))
        at += Math.min(due, burst)
        // Not while the chain forks: a user's transaction could be taken back.
        targets.sent.push(...(await targets.locks[source].run(() => sendWish(targets.devnet, source, wish))))
      }
    }),
  )
}
