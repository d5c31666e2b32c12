import { createStore, useStore } from './store.ts'

/** The clocks of browser and server may differ by less without being noticed, ms: the server tells whole seconds. */
const unnoticedMs = 3_000

let offsetMs = 0

/** Takes the time of the server from an answer: ages are counted by its clock, whatever that of the browser says. */
export function learnTime(header: string | null): void {
  const at = Date.parse(header ?? '')
  if (!Number.isFinite(at)) return
  const found = at - Date.now()
  offsetMs = Math.abs(found) < unnoticedMs ? 0 : found
}

/** Now, by the clock of the server, ms since the epoch. */
export function serverNow(): number {
  return Date.now() + offsetMs
}

const tick = createStore(serverNow())
setInterval(() => tick.set(serverNow()), 1_000)

/** Now, told once a second. */
export function useNow(): number {
  return useStore(tick)
}
