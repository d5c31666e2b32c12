import type { Provider, TransactionReceipt } from 'ethers'
import { until } from '../devnet/until.ts'

export interface LaneFindings {
  readonly chain: string
  /** Lower case. */
  readonly address: string
  readonly transactions: number
  readonly reverted: number
  readonly revertedHashes: readonly string[]
  /**
   * Number of nonces that are missing from the blocks, plus the number of nonces that are missing from the node's pool.
   */
  readonly holes: number
  /** Number of transactions in the node's pool. 0 after a drain. */
  readonly waiting: number
  readonly maxPerBlock: number
  /** Wei. */
  readonly gasPaid: bigint
  readonly gasUsed: bigint
}

interface BlockOfTransactions {
  number: string
  transactions: { from: string; nonce: string; hash: string }[]
}

type RpcNode = Provider & { send(method: string, params: unknown[]): Promise<unknown> }

interface Chain {
  readonly head: number
  readonly blocks: readonly BlockOfTransactions[]
}

const cache = new WeakMap<object, Promise<Chain>>()

/** Judges one account on one chain by all blocks up to the head. */
export async function checkLane(node: RpcNode, chain: string, address: string): Promise<LaneFindings> {
  const own = address.toLowerCase()
  const { head, blocks } = await allBlocks(node)
  const mined = blocks.flatMap((block) => block.transactions.filter(({ from }) => from.toLowerCase() === own))
  const receipts = await Promise.all(mined.map(({ hash }) => receiptOf(node, hash)))
  const reverted = receipts.filter(({ status }) => status !== 1)
  // Counts only up to `head`, because nonces of newer blocks would look like holes.
  const used = await node.getTransactionCount(own, head)
  const inPool = await poolHoles(node, own)
  const [latest, pending] = await Promise.all([node.getTransactionCount(own, 'latest'), node.getTransactionCount(own, 'pending')])
  const nonces = new Set(mined.map(({ nonce }) => Number(nonce)))
  const highest = Math.max(-1, ...nonces)
  const missing = Array.from({ length: Math.max(used, highest + 1) }, (_, nonce) => nonce).filter((nonce) => !nonces.has(nonce))
  return {
    chain,
    address: own,
    transactions: mined.length,
    reverted: reverted.length,
    revertedHashes: reverted.map(({ hash }) => hash),
    holes: missing.length + inPool,
    waiting: pending - latest,
    maxPerBlock: Math.max(0, ...blocks.map((block) => block.transactions.filter(({ from }) => from.toLowerCase() === own).length)),
    gasPaid: receipts.reduce((sum, receipt) => sum + receipt.gasUsed * receipt.gasPrice, 0n),
    gasUsed: receipts.reduce((sum, receipt) => sum + receipt.gasUsed, 0n),
  }
}

/**
 * Returns the receipt of a mined transaction. Repeats the request, because a node may show a block earlier than the
 * block's receipts. Throws Error after 30 s.
 */
function receiptOf(node: RpcNode, hash: string): Promise<TransactionReceipt> {
  const look = async () => (await node.getTransactionReceipt(hash)) ?? undefined
  return until(look, { timeoutMs: 30_000, everyMs: 100, what: `the receipt of ${hash}, which is in a block` })
}

async function poolHoles(node: RpcNode, address: string): Promise<number> {
  const pool = (await node.send('txpool_content', [])) as Record<'pending' | 'queued', Record<string, Record<string, unknown>>>
  // Read after the pool, so that the count covers transactions that were mined in between.
  const latest = await node.getTransactionCount(address, 'latest')
  const waiting = [pool.pending, pool.queued]
    .flatMap((part) => Object.entries(part).filter(([account]) => account.toLowerCase() === address))
    .flatMap(([, byNonce]) => Object.keys(byNonce).map(Number))
    .filter((nonce) => nonce >= latest)
  const highest = Math.max(latest - 1, ...waiting)
  return highest - latest + 1 - new Set(waiting).size
}

function allBlocks(node: RpcNode): Promise<Chain> {
  const known = cache.get(node)
  if (known) return known
  const reading = (async () => {
    const head = await node.getBlockNumber()
    const heights = Array.from({ length: head + 1 }, (_, height) => height)
    const read = (height: number) => node.send('eth_getBlockByNumber', [`0x${height.toString(16)}`, true]) as Promise<BlockOfTransactions>
    return { head, blocks: await Promise.all(heights.map(read)) }
  })()
  cache.set(node, reading)
  return reading
}
