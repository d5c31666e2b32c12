import { indexesOf, sendWish, wishOf, type BridgeChoice } from '../demo/load.ts'
import type { ChainKey, FaultTargets } from './fault-targets.ts'

/** Maximum number of transfers that are sent together in one direction. They fit into a few blocks. */
const burst = 60
const sources: readonly ChainKey[] = ['ethereum', 'bsc']

/** Sends transfers from both chains, spread over `durationMs`. `first`: number of transfers that were sent before. */
export async function sendOver(
  targets: FaultTargets,
  bridge: BridgeChoice,
  transfers: number,
  durationMs: number,
  first = 0,
): Promise<void> {
  const started = Date.now()
  await Promise.all(
    sources.map(async (source) => {
      const own = indexesOf(source, first + transfers).filter((index) => index >= first)
      for (let at = 0; at < own.length;) {
        const due = Math.ceil(own.length * Math.min(1, (Date.now() - started) / durationMs + 0.01) - at)
        if (due <= 0) {
          await targets.wait(100)
          continue
        }
        const indexes = own.slice(at, at + Math.min(due, burst))
        at += indexes.length
        // The lock excludes forks, which could remove a user's transaction.
        await targets.locks[source].run(() => send(targets, bridge, source, indexes))
      }
    }),
  )
}

/** Sends alternately in both directions until `isOver` returns true. No chain may fork during this time. */
export async function sendSteadily(targets: FaultTargets, bridge: BridgeChoice, perSecond: number, isOver: () => boolean): Promise<number> {
  const sending: Promise<void>[] = []
  let index = 0
  for (; !isOver(); index++) {
    sending.push(send(targets, bridge, sources[index % sources.length] as ChainKey, [index]))
    await targets.wait(1_000 / perSecond)
  }
  await Promise.all(sending)
  return index
}

async function send(targets: FaultTargets, bridge: BridgeChoice, source: ChainKey, indexes: readonly number[]): Promise<void> {
  targets.sent.push(...(await sendWish(targets.devnet, source, wishOf(bridge, indexes))))
}
