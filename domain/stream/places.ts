/** Numbers per block of a placed stream. No block has this many logs. */
export const placesPerBlock = 1_000_000n

export function firstIn(height: number | string): bigint {
  return BigInt(height) * placesPerBlock
}

export function heightOf(number: bigint | string): number {
  return Number(BigInt(number) / placesPerBlock)
}

/** Block height × 1,000,000 + index of the log in its block. */
export function placeOf(height: number, index: number): string {
  return String(firstIn(height) + BigInt(index))
}
