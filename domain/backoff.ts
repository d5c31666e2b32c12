/** Doubles the wait from `firstMs` up to `mostMs`. `tries` counts from 0. */
export function backoffMs(tries: number, firstMs: number, mostMs: number): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(tries, 30))
}

/** Whether a failed try is logged: the first, and every 60th. `tries` counts from 0. */
export function isLogged(tries: number): boolean {
  return tries % 60 === 0
}
