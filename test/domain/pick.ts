/** The element that a random number selects. Undefined if the list is empty. */
export function pick<T>(list: readonly T[], which: number): T | undefined {
  return list[which % Math.max(1, list.length)]
}
