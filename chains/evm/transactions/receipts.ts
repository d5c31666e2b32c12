import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { BlockRef, Log, Receipt } from '../../port.ts'
import { toAddress, toBytes, toDecimal, toHash, toList, toNumber, toQuantity, toRecord } from '../hex.ts'
import { NotKnown, RpcError } from '../nodes/node-errors.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { Quorum } from '../nodes/quorum.ts'

/**
 * All receipts of a block are read in one call if at least this number of them, and at least a quarter of them, are
 * wanted.
 */
const wholeBlockFrom = 4

/** Number of blocks for which receipts are read one by one after a node turned out to lack eth_getBlockReceipts. */
const singlyBlocks = 1_000

function toStatus(value: unknown): Receipt['status'] {
  const status = toNumber(value, 'receipt status')
  if (status > 1) throw new RelayerError('NODE_REFUSED', { detail: "The node's answer has no valid receipt status." })
  return status === 1 ? 'success' : 'reverted'
}

export function readReceipt(value: unknown): Receipt {
  const raw = toRecord(value, 'receipt')
  const logs = toList(raw['logs'], 'logs')
  const first = logs.length > 0 ? toRecord(logs[0], 'log')['logIndex'] : undefined
  return {
    hash: toHash(raw['transactionHash'], 'transaction hash'),
    status: toStatus(raw['status']),
    block: { height: toNumber(raw['blockNumber'], 'block number'), hash: toHash(raw['blockHash'], 'block hash') },
    from: toAddress(raw['from'], 'sender'),
    gasUsed: toDecimal(raw['gasUsed'], 'gas used'),
    effectiveGasPrice: raw['effectiveGasPrice'] == null ? '0' : toDecimal(raw['effectiveGasPrice'], 'gas price'),
    logs: logs.map(readLog),
    ...(first != null && { firstLog: toNumber(first, 'log index') }),
  }
}

function readReceiptIfAny(value: unknown): Receipt | undefined {
  // For a pending transaction, some nodes return a receipt without a block.
  return value === null || toRecord(value, 'receipt')['blockHash'] == null ? undefined : readReceipt(value)
}

function readKnownReceipt(value: unknown): Receipt {
  const receipt = readReceiptIfAny(value)
  if (!receipt) throw new NotKnown('knows no receipt')
  return receipt
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

export function createReceipts(nodes: Nodes, agree: Quorum) {
  let singlyUpTo = -1

  const method = 'eth_getTransactionReceipt'
  const one = (hash: string) => nodes.request(method, [hash], readReceiptIfAny)
  const keyOf = ({ hash, status, block }: Receipt) => `${hash} ${status} ${block.height} ${block.hash}`

  async function ofWholeBlock(block: BlockRef): Promise<readonly Receipt[] | undefined> {
    try {
      return await nodes.request('eth_getBlockReceipts', [toQuantity(block.height)], (value) =>
        value === null ? [] : toList(value, 'receipts').map(readReceipt),
      )
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      // Some nodes do not have this method. Any other error means that the node lags or is busy.
      if (error.rpcCode === -32601 || error.rpcCode === -32004 || /method|not supported|unsupported/i.test(error.rpcMessage))
        singlyUpTo = block.height + singlyBlocks
      return undefined
    }
  }

  return {
    one,
    others: nodes.readers > 1,
    /** Throws NODES_DISAGREE, also if the nodes have no receipt. */
    agreed: (hash: string) => agree({ about: `receipt ${hash}`, method, params: () => [hash], read: readKnownReceipt, key: keyOf }),
    agreedIfAny(hash: string) {
      const key = (receipt: Receipt | undefined) => (receipt ? keyOf(receipt) : 'none')
      return agree({ about: `receipt, if any, ${hash}`, method, params: () => [hash], read: readReceiptIfAny, key })
    },
    async ofBlock(block: BlockRef, hashes: readonly string[], transactionsInBlock: number): Promise<readonly Receipt[]> {
      const many = block.height > singlyUpTo && hashes.length >= wholeBlockFrom && hashes.length * 4 >= transactionsInBlock
      const found = (many ? await ofWholeBlock(block) : undefined) ?? (await Promise.all(hashes.map((hash) => one(hash))))
      const wanted = new Set(hashes)
      return found.flatMap((receipt) => (receipt && receipt.block.hash === block.hash && wanted.has(receipt.hash) ? [receipt] : []))
    },
  }
}
