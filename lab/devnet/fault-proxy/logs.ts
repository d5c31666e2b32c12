import { keccak256 } from 'ethers'
import type { RpcCall } from './behind.ts'

interface RawLog {
  readonly blockHash: string
  readonly data: string
}

export function falsified(logs: readonly unknown[], how: 'one-less' | 'forked'): unknown[] {
  return how === 'one-less' ? logs.slice(1) : logs.map((log) => onAFork(log as RawLog))
}

/** The log as another branch of the chain would have it: in a foreign block, and with its first word raised by one. */
function onAFork(log: RawLog): RawLog {
  const first = log.data.slice(2, 66)
  const other = (BigInt(`0x${first || '0'}`) + 1n).toString(16).padStart(64, '0')
  return { ...log, blockHash: keccak256(log.blockHash), data: `0x${other}${log.data.slice(66)}` }
}

/** Number of blocks of an eth_getLogs call. Undefined if the call names a block hash or a tag. */
export function rangeOf({ method, params }: RpcCall): number | undefined {
  const [filter] = params as readonly ({ fromBlock?: string; toBlock?: string } | undefined)[]
  if (method !== 'eth_getLogs' || !filter?.fromBlock?.startsWith('0x') || !filter.toBlock?.startsWith('0x')) return undefined
  return Number(filter.toBlock) - Number(filter.fromBlock) + 1
}
