import { AbiCoder } from 'ethers'
import { RelayerError } from '../../../domain/errors.ts'
import type { Intent } from '../../../domain/intent.ts'
import type { Revert, Simulation } from '../../port.ts'
import { toNumber, toQuantity } from '../hex.ts'
import { RpcError } from '../nodes/node-errors.ts'
import type { Nodes } from '../nodes/nodes.ts'

/** Selectors of the two reverts that Solidity itself makes. */
const errorSelector = '0x08c379a0'
const panicSelector = '0x4e487b71'

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

/** What is asked of nodes for one simulation. */
interface Rehearsal {
  readonly params: readonly unknown[]
  readonly from: string
  readonly gasFactor: number
  readonly blockGasLimit: bigint | undefined
}

/**
 * Estimates the gas of a call; an estimate runs the call, so it tells a revert too. A revert is the word of more than half of the nodes: one that reverts
 * everything would stop all deliveries, or park them. It costs their reads where it reverts, and nothing else.
 * @param gasFactor the limit is the estimate times this, at most the block's gas limit
 * Throws TRANSACTION_REFUSED when the sender can't pay the value, NODE_REFUSED, NODE_UNAVAILABLE.
 */
export async function simulate(
  nodes: Nodes,
  call: Intent,
  from: string,
  gasFactor: number,
  blockGasLimit: bigint | undefined,
): Promise<Simulation> {
  const transaction = { from, to: call.to, data: call.data, value: toQuantity(call.value) }
  // Of the latest block: without it some nodes (anvil, older go-ethereum) take the pool along, where our own call may be that reverts a second one.
  const rehearsal = { params: [transaction, 'latest'], from, gasFactor, blockGasLimit }
  const first = await askOne(nodes, rehearsal)
  return first.ok || nodes.readers === 1 ? first : agreed(nodes, rehearsal, first.revert)
}

async function askOne(nodes: Nodes, rehearsal: Rehearsal): Promise<Simulation> {
  try {
    return worked(await nodes.request('eth_estimateGas', rehearsal.params), rehearsal)
  } catch (error) {
    if (error instanceof RpcError && /insufficient (funds|balance)|outoffunds/i.test(error.rpcMessage)) {
      throw new RelayerError('TRANSACTION_REFUSED', { detail: error.rpcMessage, facts: { from: rehearsal.from }, cause: error })
    }
    const revert = revertOf(error)
    if (revert) return { ok: false, revert }
    throw error
  }
}

/** What most nodes say, where the first says that it reverts. Where there is no majority it reverts for no reason that anybody may act upon. */
async function agreed(nodes: Nodes, rehearsal: Rehearsal, first: Revert): Promise<Simulation> {
  const needed = Math.floor(nodes.readers / 2) + 1
  const answers = await nodes.askAll('eth_estimateGas', rehearsal.params)
  const gas: bigint[] = []
  const reverts = new Map<string, Revert[]>()
  for (const answer of answers) {
    if (answer.ok) gas.push(BigInt(toNumber(answer.result, 'gas estimate')))
    const revert = answer.ok ? undefined : revertOf(answer.error)
    if (revert) reverts.set(revert.data, [...(reverts.get(revert.data) ?? []), revert])
  }
  // Neither the lowest nor the highest of them: one may lie about that, too.
  const middle = gas.toSorted((a, b) => (a < b ? -1 : 1))[Math.floor(gas.length / 2)]
  if (gas.length >= needed && middle !== undefined) return worked(`0x${middle.toString(16)}`, rehearsal)
  const [same] = [...reverts.values()].find((each) => each.length >= needed) ?? []
  return { ok: false, revert: same ?? { data: '0x', reason: `${first.reason} (the nodes do not agree on that)` } }
}

function worked(estimate: unknown, { gasFactor, blockGasLimit }: Rehearsal): Simulation {
  return { ok: true, gas: String(withFactor(toNumber(estimate, 'gas estimate'), gasFactor, blockGasLimit)) }
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
  const body = `0x${data.slice(10)}`
  try {
    if (selector === errorSelector) return printable(String(AbiCoder.defaultAbiCoder().decode(['string'], body)[0]))
    if (selector === panicSelector) {
      const code = String(AbiCoder.defaultAbiCoder().decode(['uint256'], body)[0])
      return `panic ${code}: ${panics[code] ?? 'unknown code'}`
    }
  } catch {
    return `malformed revert ${selector}`
  }
  return `custom error ${selector}`
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
