import { id } from 'ethers'
import { LRUCache } from 'lru-cache'

const selectors = new LRUCache<string, string>({ max: 1_000, memoMethod: (signature) => id(signature).slice(0, 10) })

export function selectorOf(signature: string): string {
  return selectors.memo(signature)
}

const offset = '20'.padStart(64, '0')
const headDigits = 10 + 2 * 64

/** ABI encoding of `name(bytes)`. ethers would take a hundred times as long, several times per delivery. */
export function encodeBytesCall(selector: string, argument: Uint8Array): string {
  const digits = Buffer.from(argument).toString('hex')
  return `${selector.toLowerCase()}${offset}${argument.length.toString(16).padStart(64, '0')}${digits.padEnd(paddedDigits(argument.length), '0')}`
}

/** Undefined unless the data is exactly what `encodeBytesCall` makes. */
export function decodeBytesCall(data: string): Uint8Array | undefined {
  const text = data.toLowerCase()
  if (!/^0x[0-9a-fA-F]*$/.test(data) || text.length < headDigits || text.slice(10, 74) !== offset) return undefined
  if (!/^0{52}/.test(text.slice(74, headDigits))) return undefined
  const length = Number.parseInt(text.slice(74, headDigits), 16)
  const end = headDigits + 2 * length
  if (text.length !== headDigits + paddedDigits(length) || /[^0]/.test(text.slice(end))) return undefined
  return Buffer.from(text.slice(headDigits, end), 'hex')
}

function paddedDigits(length: number): number {
  return Math.ceil(length / 32) * 64
}
