import { createStore, useStore } from './store.ts'

/** The server reports whole seconds, so smaller differences are ignored. */
const unnoticedMs = 3_000

let offsetMs = 0

export function learnTime(header: string | null): void {
  const at = Date.parse(header ?? '')
  if (!Number.isFinite(at)) return
  const found = at - Date.now()
  offsetMs = Math.abs(found) < unnoticedMs ? 0 : found
}

/** ms since the epoch by the server's clock. */
export function serverNow(): number {
  return Date.now() + offsetMs
}

const tick = createStore(serverNow())
setInterval(() => tick.set(serverNow()), 1_000)

export function useNow(): number {
  return useStore(tick)
}
