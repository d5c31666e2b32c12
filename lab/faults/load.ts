import { indexesOf, sendWish, wishOf, type BridgeChoice } from '../demo/load.ts'
import type { ChainKey, Scene } from './fault-targets.ts'

/** At most so many of one direction at once: what fits into few blocks. */
const burst = 60

/** Users' transfers from both chains, spread evenly over a time. Resolves when all are sent and mined. */
export async function sendOver(scene: Scene, bridge: BridgeChoice, transfers: number, durationMs: number): Promise<void> {
  const started = Date.now()
  const sources: readonly ChainKey[] = ['ethereum', 'bsc']
  await Promise.all(
    sources.map(async (source) => {
      const own = indexesOf(source, transfers)
      for (let at = 0; at < own.length;) {
        const due = Math.ceil(own.length * Math.min(1, (Date.now() - started) / durationMs + 0.01) - at)
        if (due <= 0) {
          await scene.wait(100)
          continue
        }
        const wish = wishOf(bridge, own.slice(at, at + Math.min(due, burst)))
        at += Math.min(due, burst)
        // Not while the chain forks: a user whose transaction was taken back would have to look again.
        scene.sent.push(...(await scene.locks[source].run(() => sendWish(scene.devnet, source, wish))))
      }
    }),
  )
}
