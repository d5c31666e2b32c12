import { Interface } from 'ethers'
import { RelayerError } from '../../../domain/errors.ts'
import type { Intent } from '../../../domain/intent.ts'
import type { Revert, Simulation } from '../../port.ts'
import { toNumber, toQuantity } from '../hex.ts'
import { RpcError } from '../nodes/node-errors.ts'
import type { Nodes } from '../nodes/nodes.ts'

/** Knows the two reverts that Solidity itself makes: Error(string) and Panic(uint256). */
const solidity = new Interface([])

/** What nodes call an execution that failed, with or without data. */
const failures = /revert|vm execution error|evm error|invalid opcode|stack underflow|stack limit|out of gas|gas required exceeds/i

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

/**
 * Estimates the gas of a call, with room by `gasFactor`, at most the block's limit. A revert is the word of more than half of the nodes: one node that reverts
 * everything would stop all deliveries. Throws TRANSACTION_REFUSED when the sender can't pay the value, NODE_REFUSED, NODE_UNAVAILABLE.
 */
export async function simulate(
  nodes: Nodes,
  call: Intent,
  from: string,
  gasFactor: number,
  blockGasLimit: bigint | undefined,
): Promise<Simulation> {
  // Of the latest block: without it some nodes (anvil, older go-ethereum) take the pool along, where our own call may be that reverts a second one.
  const params = [{ from, to: call.to, data: call.data, value: toQuantity(call.value) }, 'latest']
  const estimate = await estimateGas(nodes, params, from)
  if (typeof estimate === 'number') return { ok: true, gas: String(withFactor(estimate, gasFactor, blockGasLimit)) }
  return { ok: false, revert: estimate }
}

async function estimateGas(nodes: Nodes, params: readonly unknown[], from: string): Promise<number | Revert> {
  try {
    return toNumber(await nodes.request(method, params), 'gas estimate')
  } catch (error) {
    if (error instanceof RpcError && /insufficient (funds|balance)|outoffunds/i.test(error.rpcMessage)) {
      throw new RelayerError('TRANSACTION_REFUSED', { detail: error.rpcMessage, facts: { from }, cause: error })
    }
    const revert = revertOf(error)
    if (!revert) throw error
    return nodes.readers === 1 ? revert : agreedEstimate(nodes, params, revert)
  }
}

/** What most nodes say, where the first says that it reverts. Where there is no majority it reverts for no reason that anybody may act upon. */
async function agreedEstimate(nodes: Nodes, params: readonly unknown[], first: Revert): Promise<number | Revert> {
  const needed = Math.floor(nodes.readers / 2) + 1
  const answers = await nodes.askAll(method, params)
  const estimates = answers.flatMap((answer) => (answer.ok ? [toNumber(answer.result, 'gas estimate')] : []))
  const reverts = answers.flatMap((answer) => (answer.ok ? [] : (revertOf(answer.error) ?? [])))
  // Neither the lowest nor the highest of them: one may lie about that, too.
  const middle = estimates.toSorted((a, b) => a - b)[Math.floor(estimates.length / 2)]
  if (estimates.length >= needed && middle !== undefined) return middle
  const same = reverts.find(({ data }) => reverts.filter((other) => other.data === data).length >= needed)
  return same ?? { data: '0x', reason: `${first.reason} (the nodes do not agree on that)` }
}

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
  // Code 3: execution reverted (go-ethereum); -32015: execution error (OpenEthereum, Nethermind). "EVM error" is anvil's and reth's. Data alone
  // is no proof: gateways put other things there.
  const reverted = error.rpcCode === 3 || error.rpcCode === -32015 || failures.test(error.rpcMessage)
  return reverted ? { data, reason: decodeReason(data) ?? plainReason(error.rpcMessage) } : undefined
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
