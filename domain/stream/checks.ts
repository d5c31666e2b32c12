import type { IntervalSet } from './interval-set.ts'

const highest = 2n ** 64n - 1n

/** One number in one text only: texts are compared. */
export function assertNumber(value: unknown, path: string): asserts value is string {
  const isNumber = typeof value === 'string' && /^(0|[1-9][0-9]{0,19})$/.test(value) && BigInt(value) <= highest
  if (!isNumber) throw new Error(`${path}: must be a whole number below 2^64 in quotes`)
}

export function assertHeight(value: unknown, path: string): asserts value is number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Error(`${path}: must be a whole number`)
}

export function assertText(value: unknown, path: string, most = 1_000): asserts value is string {
  if (typeof value !== 'string' || value.trim() === '') throw new Error(`${path}: must be a text`)
  if (value.length > most) throw new Error(`${path}: longer than ${most}`)
}

/** Ascending, apart from each other, at most 1,000 intervals. */
export function assertIntervals(value: unknown, path: string): asserts value is IntervalSet {
  if (!Array.isArray(value) || value.length > 1_000) throw new Error(`${path}: must be a list of at most 1000 intervals`)
  let below = -2n
  value.forEach((one: unknown, index) => {
    const [from, to]: readonly unknown[] = Array.isArray(one) ? one : []
    assertNumber(from, `${path}[${index}][0]`)
    assertNumber(to, `${path}[${index}][1]`)
    if (BigInt(from) > BigInt(to)) throw new Error(`${path}[${index}]: ends before it begins`)
    if (BigInt(from) <= below + 1n) throw new Error(`${path}[${index}]: must be above the one before, and apart from it`)
    below = BigInt(to)
  })
}
