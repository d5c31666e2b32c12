import type { AnvilNode } from './anvil.ts'
import type { Mined } from './contracts.ts'
import { until } from '../until.ts'

/** A transaction with its block. If a fork removed the block, waits until another block has the transaction. */
export function minedOf({ rpc }: AnvilNode, txHash: string): Promise<Mined> {
  const look = async (): Promise<Mined | undefined> => {
    const receipt = await rpc<{ blockNumber: string; logs: Mined['logs'] } | null>('eth_getTransactionReceipt', [txHash])
    const block = receipt && (await rpc<{ timestamp: string } | null>('eth_getBlockByNumber', [receipt.blockNumber, false]))
    if (!receipt || !block) return undefined
    return { transactionHash: txHash, blockNumber: Number(receipt.blockNumber), timestamp: Number(block.timestamp), logs: receipt.logs }
  }
  return until(look, { timeoutMs: 60_000, everyMs: 100, what: `${txHash} to be in a block` })
}
