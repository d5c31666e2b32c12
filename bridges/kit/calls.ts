import { type BytesLike, getBytes, id } from 'ethers'
import { LRUCache } from 'lru-cache'
import { type Facts, RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { groupBy } from '../../domain/group-by.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { DeniableParties, ProvedSource } from '../port.ts'
import type { ContractReader } from './contract-reader.ts'
import type { ArgumentBound, Call, CallRule, Plugin, Route, SignedMessage } from './plugin.ts'
import {
  type ChainNames,
  ofNobody,
  type Prove,
  readProved,
  type Routed,
  shownBy,
  signedRefusals,
  valueOf,
  wordOf,
} from './signed-messages.ts'
import type { Refusals } from './verdict.ts'
import { encodedAnswer, interfaces, nameOf, readView, shows } from './views.ts'

const isOfBytes = (signature: string) => signature.endsWith('(bytes)')

export function encodeCall({ function: signature, args }: Pick<Call, 'function' | 'args'>): string {
  const [first] = args
  if (isOfBytes(signature) && first instanceof Uint8Array) return encodeBytesCall(selectorOf(signature), first)
  return interfaces.memo(`${signature}:`).encodeFunctionData(nameOf(signature), [...args])
}

/** Encodes a call of `name(bytes,…)`. @param rest the further arguments, 64 hex digits each */
export function encodeMessageCall(signature: string, message: Uint8Array, rest = ''): string {
  const call = encodeBytesCall(selectorOf(signature), message)
  return call.slice(0, selectorDigits) + word(32 + rest.length / 2) + rest + call.slice(selectorDigits + wordDigits)
}

/** Returns the `count` one-word arguments after the first argument: 64 lower-case hex digits each. */
export function restOf(data: string, count: number): string {
  const start = selectorDigits + wordDigits
  return data.slice(start, start + count * wordDigits).toLowerCase()
}

/** Undefined unless the data is exactly what `encodeCall` makes. */
export function decodeCall(signature: string, data: string): readonly unknown[] | undefined {
  if (data.slice(0, 10).toLowerCase() !== selectorOf(signature)) return undefined
  if (isOfBytes(signature)) return decodeBytesCall(data)
  const abi = interfaces.memo(`${signature}:`)
  try {
    const args = abi.decodeFunctionData(nameOf(signature), data).toArray(true)
    return abi.encodeFunctionData(nameOf(signature), args) === data.toLowerCase() ? args : undefined
  } catch {
    return undefined
  }
}

const selectors = new LRUCache<string, string>({ max: 1_000, memoMethod: (signature) => id(signature).slice(0, 10) })

export function selectorOf(signature: string): string {
  return selectors.memo(signature)
}

const selectorDigits = 10
const wordDigits = 64

/** Encodes a call whose arguments are all `bytes`, without ethers, which takes a hundred times as long. */
export function encodeBytesCall(selector: string, ...args: readonly Uint8Array[]): string {
  let [heads, tails] = ['', '']
  for (const argument of args) {
    heads += word(args.length * 32 + tails.length / 2)
    tails += `${word(argument.length)}${Buffer.from(argument).toString('hex').padEnd(paddedDigits(argument.length), '0')}`
  }
  return `${selector.toLowerCase()}${heads}${tails}`
}

/** Undefined unless the data is exactly what `encodeBytesCall` makes from `count` arguments. */
export function decodeBytesCall(data: string, count = 1): readonly Uint8Array[] | undefined {
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

export function unproved(detail: string, facts: Facts, cause?: unknown): RelayerError {
  return new RelayerError('CALL_UNJUSTIFIED', { detail, facts, cause })
}

/** Turns a refusal that rejects the message into CALL_UNJUSTIFIED. Rethrows other errors. */
export async function provedBy<T>(check: () => Promise<T>, refusals: Refusals): Promise<T> {
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof RelayerError) || refusals[error.code]?.kind !== 'rejected') throw error
    throw unproved(`${error.code}: ${error.title}`, error.facts, error)
  }
}

/** Returns selectors by contract (0x, lower case). */
export function callsOf(routes: readonly Route[]): Readonly<Record<string, readonly string[]>> {
  const contracts = groupBy(
    routes.flatMap(({ calls }) => calls),
    ({ contract }) => contract,
  )
  return Object.fromEntries([...contracts].map(([contract, own]) => [contract, [...new Set(own.map((rule) => selectorOf(rule.function)))]]))
}

/** Makes `Endpoint.paidCalls`. */
export function paidCallsOf(routes: readonly Route[]): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const contracts: Record<string, Record<string, string>> = {}
  for (const { contract, function: signature, coins } of routes.flatMap(({ calls }) => calls)) {
    if (!coins) continue
    const own = (contracts[contract] ??= {})
    const selector = selectorOf(signature)
    if (BigInt(coins.atMost) > BigInt(own[selector] ?? 0)) own[selector] = coins.atMost
  }
  return contracts
}

interface ProofOptions<C> {
  readonly chain: ContractReader
  /** Routes to all chains, because the first route that fits a message owns it. */
  readonly routes: readonly Route[]
  readonly chainNames: ChainNames
  readonly prove: Prove
  /** Absent: the parties are not returned, because no code of the product may run. */
  readonly product?: Pick<Plugin<C>, 'decode' | 'parties'>
}

/** Makes `Endpoint.proveCall`. The product only names the message's parties. */
export function createProveCall<C>({ chain, routes, chainNames, prove, product }: ProofOptions<C>) {
  const all = routes.filter(({ to }) => to === chain.name).flatMap(({ calls }) => calls)
  return async function proveCall({ to, data, value }: Intent): Promise<readonly ProvedSource[]> {
    const [contract, selector] = [to.toLowerCase(), data.slice(0, 10).toLowerCase()]
    const isCall = (rule: CallRule) => rule.contract === contract && selectorOf(rule.function) === selector
    const rules = all.filter(isCall)
    const [rule] = rules
    if (value !== '0' && !rules.some(({ coins }) => coins)) throw unproved('It carries coins.', { to, value })
    if (!rule) throw unproved('No route has this call.', { to, selector })
    const [argument] = decodeCall(rule.function, data) ?? []
    if (argument === undefined) throw unproved('It is not exactly encoded.', { to, selector })
    if (rule.proof !== 'message') {
      if (value !== '0') throw unproved('It carries coins.', { to, value })
      await proveState(chain, rule.proof, argument, { to, data })
      return sourcesOf(
        routes.filter((route) => route.to === chain.name && route.calls.some(isCall)),
        chainNames,
      )
    }
    const { route, signed, parties } = await provedBy(async () => {
      const routed = await readProved(prove, getBytes(argument as BytesLike), routes, chainNames)
      return { ...routed, parties: product && partiesOf(product, routed) }
    }, signedRefusals)
    const own = route.calls.find(isCall)
    if (!own) throw unproved('It is not the call of the route of this message.', { to, selector })
    const beyond = argumentBeyond(own, data, signed)
    if (beyond !== undefined) throw unproved(`Its argument ${beyond} is not the one that the route allows.`, { to, selector })
    const { source, digest: payment } = signed
    if (value === '0') return [parties ? { sourceChain: source, parties } : source]
    await proveCoins(chain, own, signed, { to, value })
    return [{ sourceChain: source, payment, ...(parties && { parties }) }]
  }
}

/**
 * Returns the number of the first argument that is not within its bound. The message is argument 1. Undefined if all
 * arguments are within their bounds.
 *
 * @param data exactly encoded
 */
export function argumentBeyond({ rest = [] }: CallRule, data: string, message: SignedMessage): number | undefined {
  const words = restOf(data, rest.length)
  const isWithin = (bound: ArgumentBound, index: number) => {
    const word = words.slice(index * wordDigits, (index + 1) * wordDigits)
    if ('atMost' in bound) return BigInt(`0x${word}`) <= BigInt(bound.atMost)
    if ('is' in bound) return `0x${word}` === wordOf(valueOf(bound.is, message))
    const [from, to] = bound.payload
    return (
      message.payload.length >= to && word === Buffer.from(message.payload.subarray(from, to)).toString('hex').padStart(wordDigits, '0')
    )
  }
  const first = rest.findIndex((bound, index) => !isWithin(bound, index))
  return first === -1 ? undefined : first + 2
}

/**
 * Checks that the call does not carry too many coins, and that the message is not delivered. The digest of a message is
 * the id of its payment, so all copies of a message together are paid for once, whichever guardians signed them.
 */
async function proveCoins(
  chain: ContractReader,
  { contract, coins }: CallRule,
  message: SignedMessage,
  facts: Pick<Intent, 'to' | 'value'>,
): Promise<void> {
  if (!coins) throw unproved('It carries coins.', facts)
  const { atMost, delivered } = coins
  const value = BigInt(facts.value)
  if (value < 0n || value > BigInt(atMost)) throw unproved(`It carries more coins than ${atMost} wei.`, { ...facts, atMost })
  if (await shows(chain, shownBy(message, contract, delivered), 'majority-latest')) throw unproved('It is delivered.', facts)
}

function partiesOf<C>({ decode, parties }: Pick<Plugin<C>, 'decode' | 'parties'>, { signed, route }: Routed): DeniableParties {
  const content = decode(signed, route)
  // The deny-list cannot judge a message whose parties are not known.
  if (content === undefined) throw ofNobody(signed)
  const { recipient, token } = parties({ ...signed, content })
  return { recipient, token }
}

function sourcesOf(routes: readonly Route[], chainNames: ChainNames): readonly ChainName[] {
  const sources = routes.flatMap(({ from }) => (from === 'accepted' ? [...chainNames.values()] : from.map(({ source }) => source)))
  return [...new Set(sources)]
}

/** Proves a call without a message. Any account may send such a call, so the contract itself must limit its effect. */
async function proveState(
  chain: ContractReader,
  { view, returns, isNot }: Exclude<CallRule['proof'], 'message'>,
  argument: unknown,
  { to, data }: Pick<Intent, 'to' | 'data'>,
): Promise<void> {
  const answer = await readView(chain, { contract: to, view, args: [argument], returns }, 'majority-latest')
  const selector = data.slice(0, 10)
  if (encodedAnswer(view, returns, answer) === encodedAnswer(view, returns, isNot))
    throw unproved(`${view} shows no reason for it.`, { to, selector })
  try {
    await chain.call(to, data, 'majority-latest')
  } catch (error) {
    const { code, message } = toRelayerError(error)
    if (code !== 'NODE_REFUSED') throw error
    throw unproved(`It reverts on most nodes: ${message}`, { to, selector }, error)
  }
}
