import { id, Interface, type JsonFragmentType, ParamType } from 'ethers'
import { LRUCache } from 'lru-cache'
import type { At } from '../../chains/port.ts'
import type { ViewCall } from '../../domain/transfer/call-plan.ts'
import { type ContractReader, read } from './contract-reader.ts'
import type { Call, Shown } from './plugin.ts'

/** Interfaces by `name(types):types of the answer`, made from JSON, because some names mean something in Solidity. */
const interfaces = new LRUCache<string, Interface>({
  max: 1_000,
  memoMethod: (key) => {
    const [signature = '', returns = ''] = key.split(':')
    const inputs = jsonOf(signature.slice(signature.indexOf('(')))
    return new Interface([{ type: 'function', name: nameOf(signature), inputs, outputs: jsonOf(`(${returns})`), stateMutability: 'view' }])
  },
})

function jsonOf(types: string): readonly JsonFragmentType[] {
  const { components = [] } = JSON.parse(ParamType.from(`tuple${types}`).format('json')) as JsonFragmentType
  return components
}

function nameOf(signature: string): string {
  return signature.slice(0, signature.indexOf('('))
}

const isOfBytes = (signature: string) => signature.endsWith('(bytes)')

export function encodeCall({ function: signature, args }: Pick<Call, 'function' | 'args'>): string {
  const [first] = args
  if (isOfBytes(signature) && first instanceof Uint8Array) return encodeBytesCall(selectorOf(signature), first)
  return interfaces.memo(`${signature}:`).encodeFunctionData(nameOf(signature), [...args])
}

/** Returns the arguments. Undefined unless the data is exactly what `encodeCall` makes. */
export function decodeCall(signature: string, data: string): readonly unknown[] | undefined {
  if (data.slice(0, 10).toLowerCase() !== selectorOf(signature)) return undefined
  if (isOfBytes(signature)) {
    const bytes = decodeBytesCall(data)
    return bytes && [bytes]
  }
  const abi = interfaces.memo(`${signature}:`)
  try {
    const args = abi.decodeFunctionData(nameOf(signature), data).toArray(true)
    return abi.encodeFunctionData(nameOf(signature), args) === data.toLowerCase() ? args : undefined
  } catch {
    return undefined
  }
}

export function readView(chain: ContractReader, { contract, view, args, returns }: Omit<Shown, 'is'>, at: At) {
  return read(chain, { abi: interfaces.memo(`${view}:${returns}`), to: contract, method: nameOf(view), args, at })
}

/** Throws errors of ethers if values do not fit their types. */
export function encodeView({ contract, view, args, returns, is }: Shown): ViewCall {
  const data = interfaces.memo(`${view}:${returns}`).encodeFunctionData(nameOf(view), [...args])
  return { to: contract, data, is: encodedAnswer(view, returns, is) }
}

/** Whether the view answers `is`. Throws the errors of `read`. */
export async function shows(chain: ContractReader, shown: Shown, at: At): Promise<boolean> {
  const { view, returns, is } = shown
  return encodedAnswer(view, returns, await readView(chain, shown, at)) === encodedAnswer(view, returns, is)
}

export async function allShow(chain: ContractReader, shown: readonly Shown[], at: At): Promise<boolean> {
  return (await Promise.all(shown.map((one) => shows(chain, one, at)))).every(Boolean)
}

export function encodedAnswer(view: string, returns: string, values: readonly unknown[]): string {
  return interfaces.memo(`${view}:${returns}`).encodeFunctionResult(nameOf(view), [...values])
}

const selectors = new LRUCache<string, string>({ max: 1_000, memoMethod: (signature) => id(signature).slice(0, 10) })

export function selectorOf(signature: string): string {
  return selectors.memo(signature)
}

const selectorDigits = 10
const wordDigits = 64

/** ABI encoding of `name(bytes,…)`. Does not use ethers, which takes a hundred times as long. */
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
