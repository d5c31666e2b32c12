import { RelayerError } from '../../domain/catalogue/errors.ts'

// Functions that read values in nodes' answers. All throw NODE_REFUSED for a malformed value.

export function toNumber(value: unknown, what: string): number {
  const number = Number(quantity(value, what))
  if (!Number.isSafeInteger(number)) throw unexpected(what)
  return number
}

/** Seconds since the epoch. Refuses times that a Date in ms cannot hold (ECMAScript, "Time Values"). */
export function toTime(value: unknown, what: string): number {
  const seconds = toNumber(value, what)
  if (seconds > 8_640_000_000_000) throw unexpected(what)
  return seconds
}

export const readCount = (value: unknown) => toNumber(value, 'transaction count')

export const toDecimal = (value: unknown, what: string) => String(quantity(value, what))

export function toBytes(value: unknown, what: string): string {
  if (typeof value !== 'string' || value.length % 2 !== 0 || !/^0x[0-9a-f]*$/i.test(value)) throw unexpected(what)
  return value.toLowerCase()
}

export const toHash = (value: unknown, what: string) => ofLength(value, 32, what)
export const toAddress = (value: unknown, what: string) => ofLength(value, 20, what)

export function toRecord(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unexpected(what)
  return value as Record<string, unknown>
}

export function toList(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw unexpected(what)
  return value
}

export function toQuantity(value: string | bigint | number): string {
  return `0x${BigInt(value).toString(16)}`
}

function ofLength(value: unknown, bytes: number, what: string): string {
  const hex = toBytes(value, what)
  if (hex.length !== 2 + 2 * bytes) throw unexpected(what)
  return hex
}

function quantity(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw unexpected(what)
  return BigInt(value)
}

function unexpected(what: string): RelayerError {
  return new RelayerError('NODE_REFUSED', { detail: `The node's answer has no valid ${what}.` })
}
