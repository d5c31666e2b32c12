import { id } from 'ethers'
import { LRUCache } from 'lru-cache'

const selectors = new LRUCache<string, string>({ max: 1_000, memoMethod: (signature) => id(signature).slice(0, 10) })

export function selectorOf(signature: string): string {
  return selectors.memo(signature)
}

const selectorDigits = 10
const wordDigits = 64

/** ABI encoding of `name(bytes,…)`. ethers would take a hundred times as long, several times per delivery. */
export function encodeBytesCall(selector: string, ...args: readonly Uint8Array[]): string {
  let [heads, tails] = ['', '']
  for (const argument of args) {
    heads += word(args.length * 32 + tails.length / 2)
    tails += `${word(argument.length)}${Buffer.from(argument).toString('hex').padEnd(paddedDigits(argument.length), '0')}`
  }
  return `${selector.toLowerCase()}${heads}${tails}`
}

/** Undefined unless the data is exactly what `encodeBytesCall` makes of one argument. */
export function decodeBytesCall(data: string): Uint8Array | undefined {
  return decodeBytesArguments(data, 1)?.[0]
}

/** Undefined unless the data is exactly what `encodeBytesCall` makes of `count` arguments. */
export function decodeBytesArguments(data: string, count: number): readonly Uint8Array[] | undefined {
  if (!/^0x[0-9a-fA-F]*$/.test(data)) return undefined
  const digits = data.slice(selectorDigits).toLowerCase()
  const args: Uint8Array[] = []
  let at = count * wordDigits
  for (let index = 0; index < count; index++) {
    if (digits.slice(index * wordDigits, (index + 1) * wordDigits) !== word(at / 2)) return undefined
    const length = digits.slice(at, at + wordDigits)
    if (!/^0{52}[0-9a-f]{12}$/.test(length)) return undefined
    const start = at + wordDigits
    const end = start + 2 * Number.parseInt(length, 16)
    at = start + paddedDigits((end - start) / 2)
    if (digits.length < at || /[^0]/.test(digits.slice(end, at))) return undefined
    args.push(Buffer.from(digits.slice(start, end), 'hex'))
  }
  return digits.length === at ? args : undefined
}

function word(value: number): string {
  return value.toString(16).padStart(wordDigits, '0')
}

function paddedDigits(length: number): number {
  return Math.ceil(length / 32) * wordDigits
}
