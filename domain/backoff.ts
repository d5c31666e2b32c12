export function backoffMs(tries: number, firstMs: number, mostMs: number): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(tries, 30))
}

/** Whether to log this failure as a warning: the first one in a row, and then every 60th. */
export function isLogged(tries: number): boolean {
  return tries % 60 === 0
}
