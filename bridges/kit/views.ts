import { Interface, type JsonFragmentType, ParamType } from 'ethers'
import { LRUCache } from 'lru-cache'
import type { At } from '../../chains/port.ts'
import type { ViewCall } from '../../domain/transfer/call-plan.ts'
import { type ContractReader, read } from './contract-reader.ts'
import type { Shown } from './plugin.ts'

/**
 * Key `name(types):types of the answer` → interface with this view. Interfaces are made from JSON, because some names
 * are keywords of Solidity.
 */
export const interfaces = new LRUCache<string, Interface>({
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

export function nameOf(signature: string): string {
  return signature.slice(0, signature.indexOf('('))
}

export function readView(chain: ContractReader, { contract, view, args, returns }: Omit<Shown, 'is'>, at: At) {
  return read(chain, { abi: interfaces.memo(`${view}:${returns}`), to: contract, method: nameOf(view), args, at })
}

/** Throws errors of ethers if values do not fit their types. */
export function encodeView({ contract, view, args, returns, is }: Shown): ViewCall {
  const data = interfaces.memo(`${view}:${returns}`).encodeFunctionData(nameOf(view), [...args])
  return { to: contract, data, is: encodedAnswer(view, returns, is) }
}

/** Throws the errors of `read`. */
export async function shows(chain: ContractReader, shown: Shown, at: At): Promise<boolean> {
  const { view, returns, is } = shown
  const answer = await readView(chain, shown, at)
  // Values of other types have several forms, such as addresses in upper and lower case.
  if (is.every((value) => typeof value === 'boolean'))
    return answer.length === is.length && is.every((value, index) => value === answer[index])
  return encodedAnswer(view, returns, answer) === encodedAnswer(view, returns, is)
}

export async function allShow(chain: ContractReader, shown: readonly Shown[], at: At): Promise<boolean> {
  return (await Promise.all(shown.map((one) => shows(chain, one, at)))).every(Boolean)
}

export function encodedAnswer(view: string, returns: string, values: readonly unknown[]): string {
  return interfaces.memo(`${view}:${returns}`).encodeFunctionResult(nameOf(view), [...values])
}
