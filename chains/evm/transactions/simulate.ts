import { Interface } from 'ethers'
import { LRUCache } from 'lru-cache'
import { fingerprint } from '../../crypto/fingerprint.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Intent } from '../../../domain/lane/lane.ts'
import { printable } from '../../../domain/text/printable.ts'
import { medianOf } from '../../heads.ts'
import type { GasOptions, Revert, Simulation } from '../../port.ts'
import { toNumber, toQuantity } from '../hex.ts'
import { createPlausible } from '../plausible.ts'
import { type Nodes, resultsOf } from '../nodes/nodes.ts'
import { isExecutionFailure, isUnpaid, outOfGas, RpcError } from '../nodes/node-errors.ts'

const solidity = new Interface([])

/** Panic codes (docs.soliditylang.org, "Panic via assert and Error via require"). */
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

/**
 * A single node's estimate counts only if it is between these multiples of agreed estimates. With less gas, a call may
 * run out of gas.
 */
const plausibleGas = { lowest: 0.9, highest: 1.25 }
/** Time (ms) for which all nodes are asked after an estimate was too low. */
const distrustMs = 600_000
/**
 * Number of remembered calls. A call that is estimated again may have run out of gas, so all nodes are asked about it.
 */
const mostCalls = 4_096

/**
 * Makes `Chain.simulate`. A single node's estimate counts only near agreed estimates. Throws TRANSACTION_REFUSED,
 * NODE_REFUSED, NODE_UNAVAILABLE.
 */
export function createSimulate(nodes: Nodes, blockGasLimit: () => bigint | undefined) {
  const known = createPlausible(plausibleGas)
  const estimated = new LRUCache<string, { readonly limit?: bigint }>({ max: mostCalls })
  let distrustedUntil = -Infinity

  async function estimate(call: Intent, from: string, { gasFactor = 1, atMost }: GasOptions): Promise<number | Failure> {
    const gas = atMost === undefined ? {} : { gas: toQuantity(atMost) }
    // Without `latest`, some nodes (anvil, older go-ethereum) include the lane's pending call.
    const params = [{ from, to: call.to, data: call.data, value: toQuantity(call.value), ...gas }, 'latest']
    const key = fingerprint(JSON.stringify(params))
    const before = estimated.get(key)
    estimated.set(key, {})
    const first = await nodes.request(method, params, readEstimate).catch((error: unknown) => {
      const failure = failureOf(error, call)
      if (!failure) throw error
      return failure
    })
    if (nodes.readers === 1) return first
    const kind = `${call.to} ${call.data.slice(0, 10)}`.toLowerCase()
    if (typeof first === 'number' && !before && performance.now() >= distrustedUntil && known.has(kind, first)) {
      estimated.set(key, { limit: withFactor(first, gasFactor, undefined) })
      return first
    }
    const { said, byMost } = await agreedEstimate(nodes, params, (error) => failureOf(error, call), first)
    if (!byMost || typeof said !== 'number') return said
    known.agreed(kind, said)
    if (before?.limit !== undefined && before.limit < BigInt(said)) distrustedUntil = performance.now() + distrustMs
    return said
  }

  return async function simulate(call: Intent, from: string, options: GasOptions = {}): Promise<Simulation> {
    const found = await estimate(call, from, options)
    if (typeof found === 'number') return { ok: true, gas: String(withFactor(found, options.gasFactor ?? 1, blockGasLimit())) }
    const { unpaid, halted: _, ...revert } = found
    if (options.atMost !== undefined && isOutOfGas(found)) return { ok: false, revert, needsMore: true }
    if (unpaid) throw new RelayerError('TRANSACTION_REFUSED', { detail: unpaid.rpcMessage, facts: { from }, cause: unpaid })
    return { ok: false, revert }
  }
}

/**
 * Whether the node itself says that the gas does not suffice. The text of a contract would be in the data of its
 * revert.
 */
function isOutOfGas({ data, reason, isDisputed }: Failure): boolean {
  return !isDisputed && data === '0x' && outOfGas.test(reason)
}

interface Failure extends Revert {
  readonly unpaid?: RpcError
  readonly halted?: RpcError
}

/**
 * Returns a revert, whatever its text says, or a lack of funds. If the call has no coins, a text about funds may be a
 * contract's own, so the failure counts as a revert. Besu says only "Internal error" about a call that halts
 * (AbstractEstimateGas.java), but the node itself may have failed, so this text counts as a revert only if most nodes
 * say it.
 */
function failureOf(error: unknown, { value }: Intent): Failure | undefined {
  const revert = revertOf(error)
  if (revert || !(error instanceof RpcError)) return revert
  if (!error.limited && /^internal error$/i.test(error.rpcMessage)) return { data: '0x', reason: 'the call halts', halted: error }
  if (!isUnpaid(error)) return undefined
  const { rpcMessage: reason } = error
  return BigInt(value) > 0n ? { data: 'unpaid', reason, unpaid: error } : { data: '0x', reason: plainReason(reason) }
}

type ReadFailure = (error: unknown) => Failure | undefined

async function agreedEstimate(nodes: Nodes, params: readonly unknown[], readFailure: ReadFailure, first: number | Failure) {
  const answers = await nodes.askAll(method, params, readEstimate)
  const estimates = resultsOf(answers)
  const failures = answers.flatMap((answer) => (answer.ok ? [] : (readFailure(answer.error) ?? [])))
  const middle = medianOf(estimates)
  if (estimates.length >= nodes.needed && middle !== undefined) return { said: middle, byMost: true }
  const same = failures.find(({ data }) => failures.filter((other) => other.data === data).length >= nodes.needed)
  if (same) return { said: same, byMost: true }
  if (typeof first !== 'number' && first.halted) throw first.halted
  if (typeof first === 'number' || first.unpaid) return { said: first, byMost: false }
  const reason = `${first.reason} (the nodes do not agree on that)`
  return { said: { data: '0x', reason, isDisputed: true as const }, byMost: false }
}

const readEstimate = (value: unknown) => toNumber(value, 'gas estimate')

export function withFactor(estimate: number, factor: number, blockGasLimit: bigint | undefined): bigint {
  const raised = BigInt(Math.ceil(estimate * factor))
  const capped = blockGasLimit !== undefined && raised > blockGasLimit ? blockGasLimit : raised
  return capped > BigInt(estimate) ? capped : BigInt(estimate)
}

/** Undefined for errors that are not reverts. Use only for `eth_call` and `eth_estimateGas`. */
export function revertOf(error: unknown): Revert | undefined {
  if (!(error instanceof RpcError) || !isExecutionFailure(error)) return undefined
  const data = findData(error.data)
  return { data, reason: decodeReason(data) ?? plainReason(error.rpcMessage) }
}

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

/** The data may be in a string after `Reverted` (Nethermind, OpenEthereum), or in a nested object (gateways). */
function findData(data: unknown): string {
  if (typeof data === 'string') return /0x(?:[0-9a-f]{2})*(?![0-9a-f])/i.exec(data)?.[0].toLowerCase() ?? '0x'
  if (typeof data !== 'object' || data === null) return '0x'
  const inner = data as { data?: unknown; result?: unknown }
  return inner.data !== undefined ? findData(inner.data) : findData(inner.result)
}

const longestMessage = 1_000

function plainReason(message: string): string {
  const text = message.slice(0, longestMessage).replace(/^.*?execution reverted:?\s*/i, '')
  const [reason = ''] = text.split(/data:\s*"?0x/i, 1)
  return printable(reason.replace(/,\s*$/, '')) || 'execution reverted'
}
