/** The wait before the next try: doubles from `firstMs` up to `mostMs`. `tries` counts from 0. */
export function backoffMs(tries: number, firstMs: number, mostMs: number): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(tries, 30))
}

/** Logs the first failed try and then every 60th. `tries` counts from 0. */
export function isLogged(tries: number): boolean {
  return tries % 60 === 0
}
