/** The middle one, of an even number the lower of the two: one of three that lies does not choose it. Undefined: there is none. */
export function medianOf<T extends number | bigint>(values: readonly T[]): T | undefined {
  return values.toSorted((a, b) => (a < b ? -1 : Number(a > b)))[Math.floor((values.length - 1) / 2)]
}
