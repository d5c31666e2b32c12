import { id, Interface } from 'ethers'
import { RelayerError } from '../../../domain/errors.ts'
import type { Intent } from '../../../domain/intent.ts'
import type { Revert, Simulation } from '../../port.ts'
import { toNumber, toQuantity } from '../hex.ts'
import { medianOf } from '../median.ts'
import { isExecutionFailure, isUnpaid, RpcError } from '../nodes/node-errors.ts'
import type { Nodes } from '../nodes/nodes.ts'
import { createPlausible } from '../plausible.ts'

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
/** Calls that are remembered: one that is estimated again may have failed because of the first estimate. */
const mostCalls = 4_096

/**
 * Estimates the gas of a call, with room by `gasFactor`, at most the block's limit. One node's word is enough for a first estimate that is like those that most
 * nodes gave for this function before; any other is the median of all. A revert is the word of more than half of the nodes: one node that reverts
 * everything would stop all deliveries. Throws TRANSACTION_REFUSED when the sender can't pay the value, NODE_REFUSED, NODE_UNAVAILABLE.
 */
export function createSimulate(nodes: Nodes, blockGasLimit: () => bigint | undefined) {
  const known = createPlausible(plausibleGas)
  const before = new Set<string>()

  /** True if this very call was estimated before. */
  function isRepeated(params: readonly unknown[]): boolean {
    const call = id(JSON.stringify(params))
    if (before.delete(call)) return Boolean(before.add(call))
    before.add(call)
    const [oldest] = before
    if (before.size > mostCalls && oldest !== undefined) before.delete(oldest)
    return false
  }

  async function estimate(call: Intent, from: string): Promise<number | Revert> {
    // Of the latest block: without it some nodes (anvil, older go-ethereum) take the pool along, where our own call may be that reverts a second one.
    const params = [{ from, to: call.to, data: call.data, value: toQuantity(call.value) }, 'latest']
    const repeated = isRepeated(params)
    const first = await estimateOfOne(nodes, params, from)
    const kind = `${call.to} ${call.data.slice(0, 10)}`.toLowerCase()
    const isNumber = typeof first === 'number'
    if (nodes.readers === 1 || (isNumber && !repeated && known.has(kind, first))) return first
    const agreed = await agreedEstimate(nodes, params, first)
    if (typeof agreed === 'number') known.agreed(kind, agreed)
    return agreed
  }

  return async function simulate(call: Intent, from: string, gasFactor = 1): Promise<Simulation> {
    const found = await estimate(call, from)
    if (typeof found === 'number') return { ok: true, gas: String(withFactor(found, gasFactor, blockGasLimit())) }
    return { ok: false, revert: found }
  }
}

async function estimateOfOne(nodes: Nodes, params: readonly unknown[], from: string): Promise<number | Revert> {
  try {
    return await nodes.request(method, params, readEstimate)
  } catch (error) {
    if (error instanceof RpcError && isUnpaid(error)) {
      throw new RelayerError('TRANSACTION_REFUSED', { detail: error.rpcMessage, facts: { from }, cause: error })
    }
    const revert = revertOf(error)
    if (!revert) throw error
    return revert
  }
}

/**
 * What most nodes say: the median of their estimates, or a revert. Where too few answer, the estimate of the first stands; where there is no majority for its revert,
 * the call reverts for no reason that anybody may act upon.
 */
async function agreedEstimate(nodes: Nodes, params: readonly unknown[], first: number | Revert): Promise<number | Revert> {
  const answers = await nodes.askAll(method, params, readEstimate)
  const estimates = answers.flatMap((answer) => (answer.ok ? [answer.result] : []))
  const reverts = answers.flatMap((answer) => (answer.ok ? [] : (revertOf(answer.error) ?? [])))
  const middle = medianOf(estimates)
  if (estimates.length >= nodes.needed && middle !== undefined) return middle
  const same = reverts.find(({ data }) => reverts.filter((other) => other.data === data).length >= nodes.needed)
  if (same) return same
  return typeof first === 'number' ? first : { data: '0x', reason: `${first.reason} (the nodes do not agree on that)` }
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

function plainReason(message: string): string {
  return (
    printable(message.replace(/^.*?execution reverted:?\s*/i, '').replace(/,?\s*data:\s*"?0x[0-9a-f]*"?.*$/i, '')) || 'execution reverted'
  )
}

/** Contract text is outside input: one line, printable, bounded. */
function printable(text: string): string {
  return text
    .replace(/[^\x20-\x7e\u00a0-\uffff]/g, ' ')
    .trim()
    .slice(0, 300)
}
