import { type FinalityPolicy, finalizedHeight } from '../../../domain/finality.ts'
import type { HeadEvent } from '../../port.ts'
import type { BlockCache } from './block-cache.ts'
import type { createShownHeads, Step } from './follow.ts'

const lagsKept = 128

type Shared = Pick<ReturnType<typeof createShownHeads>, 'reached' | 'time'>

export function createHeadEvents(kept: BlockCache, finality: FinalityPolicy) {
  const listeners = new Set<(event: HeadEvent) => void>()
  const lags: number[] = []
  const events = {
    current: undefined as HeadEvent | undefined,
    /** Counts skipped blocks, and rollbacks that go further back than the cached blocks. */
    breaks: 0,
    /** ms, as `performance.now`. */
    latestSeenAt: 0,
    finalityLag: () => Math.max(0, ...lags),
    publish({ applied, rolledBack, replaced, broken }: Step, tagged: number | undefined, { reached, time }: Shared): void {
      const { latest } = kept
      if (!latest) return
      const { current } = events
      if (broken) events.breaks++
      const before = current?.finalized ?? 0
      const computed = finalizedHeight(finality, Math.min(latest.height, reached ?? 0), tagged)
      const finalized = Math.min(latest.height, replaced ? computed : Math.max(before, computed))
      const isTimed = current?.time !== undefined || time === undefined
      if (current && applied.length === 0 && rolledBack.length === 0 && finalized === before && isTimed) return
      if (latest !== current?.latest) events.latestSeenAt = performance.now()
      lags.push(latest.height - finalized)
      if (lags.length > lagsKept) lags.shift()
      kept.prune(finalized)
      const event: HeadEvent = { applied, rolledBack: rolledBack.map(({ height, hash }) => ({ height, hash })), latest, finalized, time }
      events.current = event
      for (const listener of [...listeners]) isolate(() => listener(event))
    },
    subscribe(listener: (event: HeadEvent) => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  return events
}

/** Turns a listener's error into a warning, so that the other listeners are still called. */
export function isolate(listener: () => void): void {
  try {
    listener()
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}
