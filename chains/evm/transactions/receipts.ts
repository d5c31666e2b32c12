import type { BlockRef, Log, Receipt } from '../../port.ts'
import { toAddress, toBytes, toDecimal, toHash, toList, toNumber, toQuantity, toRecord } from '../hex.ts'
import { NotKnown, RpcError } from '../nodes/node-errors.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { Quorum } from '../nodes/quorum.ts'

/** One answer for a whole block is cheaper than this many single ones, if they are at least a quarter of the block. */
const wholeBlockFrom = 4

/** For so many blocks receipts are read one by one once a node has said that it does not serve those of a block. */
const singlyBlocks = 1_000

/** A receipt as a node gives it. Throws NODE_REFUSED if it is none. */
export function readReceipt(value: unknown): Receipt {
  const raw = toRecord(value, 'receipt')
  return {
    hash: toHash(raw['transactionHash'], 'transaction hash'),
    status: toNumber(raw['status'], 'receipt status') === 1 ? 'success' : 'reverted',
    block: { height: toNumber(raw['blockNumber'], 'block number'), hash: toHash(raw['blockHash'], 'block hash') },
    from: toAddress(raw['from'], 'sender'),
    gasUsed: toDecimal(raw['gasUsed'], 'gas used'),
    effectiveGasPrice: raw['effectiveGasPrice'] == null ? '0' : toDecimal(raw['effectiveGasPrice'], 'gas price'),
    logs: toList(raw['logs'], 'logs').map(readLog),
  }
}

/** Undefined: in no block, as far as the node knows. Throws NODE_REFUSED. */
function readReceiptIfAny(value: unknown): Receipt | undefined {
  // A pending transaction has a receipt without a block on some nodes.
  return value === null || toRecord(value, 'receipt')['blockHash'] == null ? undefined : readReceipt(value)
}

/** Of a block that the node may not have. Throws NODE_REFUSED. */
function readReceipts(value: unknown): readonly Receipt[] {
  return value === null ? [] : toList(value, 'receipts').map(readReceipt)
}

export function readLog(value: unknown): Log {
  const raw = toRecord(value, 'log')
  return {
    address: toAddress(raw['address'], 'log address'),
    topics: toList(raw['topics'], 'log topics').map((topic) => toHash(topic, 'log topic')),
    data: toBytes(raw['data'], 'log data'),
  }
}

export type Receipts = ReturnType<typeof createReceipts>

/** Reads receipts, all calls of a tick in one HTTP request. */
export function createReceipts(nodes: Nodes, agree: Quorum) {
  /** Up to this height no whole blocks are asked for: a node said that it does not serve them, and another may be asked by then. */
  let singlyUpTo = -1

  /** Undefined: in no block, as far as the node knows. */
  function one(hash: string): Promise<Receipt | undefined> {
    return nodes.request('eth_getTransactionReceipt', [hash], readReceiptIfAny)
  }

  const keyOf = ({ hash, status, block }: Receipt) => `${hash} ${status} ${block.height} ${block.hash}`
  const question = (hash: string) => ({ method: 'eth_getTransactionReceipt', params: () => [hash] })

  async function ofWholeBlock(block: BlockRef): Promise<readonly Receipt[] | undefined> {
    try {
      return await nodes.request('eth_getBlockReceipts', [toQuantity(block.height)], readReceipts)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      // Not every node serves the method; one that lags, or is busy, says something else.
      if (error.rpcCode === -32601 || error.rpcCode === -32004 || /method|not supported|unsupported/i.test(error.rpcMessage))
        singlyUpTo = block.height + singlyBlocks
      return undefined
    }
  }

  return {
    one,
    get others() {
      return nodes.readers > 1
    },
    /** The receipt that more than half of the nodes give. Throws NODES_DISAGREE, also where they know none. */
    agreed: (hash: string) =>
      agree({
        about: `receipt ${hash}`,
        ...question(hash),
        read(value) {
          const receipt = readReceiptIfAny(value)
          if (!receipt) throw new NotKnown('knows no receipt')
          return receipt
        },
        key: keyOf,
      }),
    /** The same; undefined: more than half of the nodes know of no block that has it. */
    agreedIfAny: (hash: string) =>
      agree<Receipt | undefined>({
        about: `receipt, if any, ${hash}`,
        ...question(hash),
        read: readReceiptIfAny,
        key: (receipt) => (receipt ? keyOf(receipt) : 'none'),
      }),
    /** Those of these transactions that the node has in exactly this block. */
    async ofBlock(block: BlockRef, hashes: readonly string[], transactionsInBlock: number): Promise<readonly Receipt[]> {
      const many = block.height > singlyUpTo && hashes.length >= wholeBlockFrom && hashes.length * 4 >= transactionsInBlock
      const found = (many ? await ofWholeBlock(block) : undefined) ?? (await Promise.all(hashes.map((hash) => one(hash))))
      const wanted = new Set(hashes)
      return found.flatMap((receipt) => (receipt && receipt.block.hash === block.hash && wanted.has(receipt.hash) ? [receipt] : []))
    },
  }
}
