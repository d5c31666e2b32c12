import { createStore, useStore } from './store.ts'

/** Smaller differences between the two clocks (ms) are ignored, because the server reports whole seconds. */
const unnoticedMs = 3_000

let offsetMs = 0

export function learnTime(header: string | null): void {
  const at = Date.parse(header ?? '')
  if (!Number.isFinite(at)) return
  const found = at - Date.now()
  offsetMs = Math.abs(found) < unnoticedMs ? 0 : found
}

/** The time by the server's clock, ms since the epoch. */
export function serverNow(): number {
  return Date.now() + offsetMs
}

const tick = createStore(serverNow())
setInterval(() => tick.set(serverNow()), 1_000)

export function useNow(): number {
  return useStore(tick)
}
