import { Interface } from 'ethers'
import { LRUCache } from 'lru-cache'
import { fingerprint } from '../../crypto/fingerprint.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Intent } from '../../../domain/intent.ts'
import { printable } from '../../../domain/text/printable.ts'
import type { Revert, Simulation } from '../../port.ts'
import { toNumber, toQuantity } from '../hex.ts'
import { createPlausible, medianOf } from '../plausible.ts'
import { resultsOf } from '../nodes/ask-many.ts'
import { isExecutionFailure, isUnpaid, RpcError } from '../nodes/node-errors.ts'
import type { Nodes } from '../nodes/nodes.ts'

/** Knows the two reverts that Solidity itself makes: Error(string) and Panic(uint256). */
const solidity = new Interface([])

/** Meanings of Solidity's panic codes (docs.soliditylang.org, "Panic via assert and Error via require"). */
const panics: Readonly<Record<string, string>> = {
  '1': 'assertion failed',
  '17': 'arithmetic overflow',
  '18': 'division by zero',
  '33': 'invalid enum value',
  '34': 'corrupt storage byte array',
  '49': 'pop of an empty array',
  '50': 'index out of bounds',
  '65': 'out of memory',
  '81': 'call of an uninitialised function',
}

const method = 'eth_estimateGas'

/** Gas of two calls of one function differs by what they write. Less than this of the least that was seen would run out of gas in spite of the room. */
const plausibleGas = { lowest: 0.9, highest: 1.25 }
/** After a call that one node's estimate was too low for, all nodes are asked for so long, ms: it costs one failed round, not one per call. */
const distrustMs = 600_000
/** Calls that are remembered: one that is estimated again may have failed because of the first estimate. */
const mostCalls = 4_096

/**
 * Estimates the gas of a call, with room by `gasFactor`, at most the block's limit. One node's word is enough for a first estimate that is like those that most
 * nodes gave for this function before; any other is the median of all, and so is every one for some minutes after one was too low. A revert, or that the sender
 * cannot pay, is the word of more than half of the nodes: one node that reverts everything would stop all deliveries. Throws TRANSACTION_REFUSED when the sender can't pay the value, NODE_REFUSED, NODE_UNAVAILABLE.
 */
export function createSimulate(nodes: Nodes, blockGasLimit: () => bigint | undefined, clock = () => performance.now()) {
  const known = createPlausible(plausibleGas)
  /** Calls that were estimated. `limit`: the gas limit that follows from a single node's estimate, where it was believed. */
  const estimated = new LRUCache<string, { readonly limit?: bigint }>({ max: mostCalls })
  let distrustedUntil = -Infinity

  async function estimate(call: Intent, from: string, gasFactor: number): Promise<number | Failure> {
    // Of the latest block: without it some nodes (anvil, older go-ethereum) take the pool along, where our own call may be that reverts a second one.
    const params = [{ from, to: call.to, data: call.data, value: toQuantity(call.value) }, 'latest']
    const key = fingerprint(JSON.stringify(params))
    const before = estimated.get(key)
    estimated.set(key, {})
    const first = await estimateOfOne(nodes, params)
    const kind = `${call.to} ${call.data.slice(0, 10)}`.toLowerCase()
    const isNumber = typeof first === 'number'
    if (nodes.readers === 1) return first
    if (isNumber && !before && clock() >= distrustedUntil && known.has(kind, first)) {
      estimated.set(key, { limit: withFactor(first, gasFactor, undefined) })
      return first
    }
    const { said, byMost } = await agreedEstimate(nodes, params, first)
    if (byMost && typeof said === 'number') {
      known.agreed(kind, said)
      // The limit from the single node's estimate was too low.
      if (before?.limit !== undefined && before.limit < BigInt(said)) distrustedUntil = clock() + distrustMs
    }
    return said
  }

  return async function simulate(call: Intent, from: string, gasFactor = 1): Promise<Simulation> {
    const found = await estimate(call, from, gasFactor)
    if (typeof found === 'number') return { ok: true, gas: String(withFactor(found, gasFactor, blockGasLimit())) }
    const { unpaid, ...revert } = found
    if (unpaid) throw new RelayerError('TRANSACTION_REFUSED', { detail: unpaid.rpcMessage, facts: { from }, cause: unpaid })
    return { ok: false, revert }
  }
}

/** Why a call cannot be made: it reverts, or the sender cannot pay for it (`unpaid`). */
interface Failure extends Revert {
  readonly unpaid?: RpcError
}

async function estimateOfOne(nodes: Nodes, params: readonly unknown[]): Promise<number | Failure> {
  try {
    return await nodes.request(method, params, readEstimate)
  } catch (error) {
    const failure = failureOf(error)
    if (!failure) throw error
    return failure
  }
}

function failureOf(error: unknown): Failure | undefined {
  if (error instanceof RpcError && isUnpaid(error)) return { data: 'unpaid', reason: error.rpcMessage, unpaid: error }
  return revertOf(error)
}

/**
 * What most nodes say (`byMost`): the median of their estimates, or a failure. Where too few answer, the estimate of the first stands; where there is no majority
 * for its revert, the call reverts for no reason that anybody may act upon.
 */
async function agreedEstimate(
  nodes: Nodes,
  params: readonly unknown[],
  first: number | Failure,
): Promise<{ said: number | Failure; byMost: boolean }> {
  const answers = await nodes.askAll(method, params, readEstimate)
  const estimates = resultsOf(answers)
  const failures = answers.flatMap((answer) => (answer.ok ? [] : (failureOf(answer.error) ?? [])))
  const middle = medianOf(estimates)
  if (estimates.length >= nodes.needed && middle !== undefined) return { said: middle, byMost: true }
  const same = failures.find(({ data }) => failures.filter((other) => other.data === data).length >= nodes.needed)
  if (same) return { said: same, byMost: true }
  if (typeof first === 'number' || first.unpaid) return { said: first, byMost: false }
  return { said: { data: '0x', reason: `${first.reason} (the nodes do not agree on that)` }, byMost: false }
}

const readEstimate = (value: unknown) => toNumber(value, 'gas estimate')

/** The estimate with room, in whole gas units; never above the block's limit, never below the estimate. */
export function withFactor(estimate: number, factor: number, blockGasLimit: bigint | undefined): bigint {
  const raised = BigInt(Math.ceil(estimate * factor))
  const capped = blockGasLimit !== undefined && raised > blockGasLimit ? blockGasLimit : raised
  return capped > BigInt(estimate) ? capped : BigInt(estimate)
}

/** The revert that an error of `eth_call` or `eth_estimateGas` tells of, or undefined if it tells of none. */
export function revertOf(error: unknown): Revert | undefined {
  if (!(error instanceof RpcError)) return undefined
  const data = findData(error.data)
  return isExecutionFailure(error) ? { data, reason: decodeReason(data) ?? plainReason(error.rpcMessage) } : undefined
}

/** The text of revert bytes: of Error(string), of Panic(uint256), the selector of a custom error; undefined if there is nothing to read. */
export function decodeReason(data: string): string | undefined {
  if (data.length < 10) return undefined
  const selector = data.slice(0, 10)
  try {
    const error = solidity.parseError(data)
    if (!error) return `custom error ${selector}`
    const value = String(error.args[0])
    return error.name === 'Error' ? printable(value) : `panic ${value}: ${panics[value] ?? 'unknown code'}`
  } catch {
    return `malformed revert ${selector}`
  }
}

/** Revert bytes wherever nodes put them: a string (go-ethereum), "Reverted 0x…" (Nethermind, OpenEthereum), an object around it (Ganache, some gateways). */
function findData(data: unknown): string {
  if (typeof data === 'string') return /0x(?:[0-9a-f]{2})*(?![0-9a-f])/i.exec(data)?.[0].toLowerCase() ?? '0x'
  if (typeof data !== 'object' || data === null) return '0x'
  const inner = data as { data?: unknown; result?: unknown }
  return inner.data !== undefined ? findData(inner.data) : findData(inner.result)
}

/** Longest message of a node that is searched for its reason, characters. A contract chooses its text, and the patterns take quadratic time. */
const longestMessage = 1_000

function plainReason(message: string): string {
  const text = message.slice(0, longestMessage)
  return printable(text.replace(/^.*?execution reverted:?\s*/i, '').replace(/,?\s*data:\s*"?0x[0-9a-f]*"?.*$/i, '')) || 'execution reverted'
}
