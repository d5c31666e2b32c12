export function backoffMs(tries: number, firstMs: number, mostMs: number): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(tries, 30))
}

export function isLogged(tries: number): boolean {
  return tries % 60 === 0
}
