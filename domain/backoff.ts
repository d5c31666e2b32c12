/** Waits double from `firstMs` to `mostMs`. `tries` counts from 0. */
export function backoffMs(tries: number, firstMs: number, mostMs: number): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(tries, 30))
}

/** Whether people are told of a try that failed: of the first, and of every 60th (with waits of 5 s, every five minutes). `tries` counts from 0. */
export function isTold(tries: number): boolean {
  return tries % 60 === 0
}
