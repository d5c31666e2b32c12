import type { Block } from '../../port.ts'
import { toBytes, toDecimal, toList, toNumber, toQuantity, toRecord } from '../hex.ts'
import type { NodeAnswer, Nodes } from '../nodes/nodes.ts'

/** A block with what the adapter itself needs beside the port's fields. */
export interface EvmBlock extends Block {
  /** Gas units that fit in the block. */
  readonly gasLimit: bigint
}

/** A height, or a tag that each node resolves on its own. */
type BlockAt = number | 'latest' | 'finalized'

/** The call for a block with transaction hashes. */
export function blockCall(at: BlockAt) {
  return { method: 'eth_getBlockByNumber', params: () => [typeof at === 'number' ? toQuantity(at) : at, false] }
}

/** A block as a node answers `blockCall`. Throws NODE_REFUSED if it is none. */
export function readBlock(value: unknown): EvmBlock {
  const raw = toRecord(value, 'block')
  return {
    height: toNumber(raw['number'], 'block number'),
    hash: toBytes(raw['hash'], 'block hash'),
    parentHash: toBytes(raw['parentHash'], 'parent hash'),
    timestamp: toNumber(raw['timestamp'], 'block timestamp'),
    ...(raw['baseFeePerGas'] != null && { baseFee: toDecimal(raw['baseFeePerGas'], 'base fee') }),
    transactions: toList(raw['transactions'], 'transactions').map((hash) => toBytes(hash, 'transaction hash')),
    gasLimit: BigInt(toDecimal(raw['gasLimit'], 'gas limit')),
  }
}

/** The same, or undefined where the node has none. */
export function readBlockIfAny(value: unknown): EvmBlock | undefined {
  return value === null ? undefined : readBlock(value)
}

/** A block from one node, or undefined where it has none. Throws as `Nodes.request` does. */
export async function fetchBlock(nodes: Pick<Nodes, 'request'>, at: BlockAt): Promise<EvmBlock | undefined> {
  const { method, params } = blockCall(at)
  return readBlockIfAny(await nodes.request(method, params()))
}

/** A block from each node that answers, undefined where it has none; no block at all counts as silence. `isEnough` ends the wait for others. Throws never. */
export async function fetchBlockOfAll(
  nodes: Pick<Nodes, 'askAll'>,
  at: BlockAt,
  isEnough?: (blocks: readonly (EvmBlock | undefined)[]) => boolean,
): Promise<readonly (EvmBlock | undefined)[]> {
  const { method, params } = blockCall(at)
  return blocksOf(await nodes.askAll(method, params(), isEnough && ((_, answers) => isEnough(blocksOf(answers)))))
}

function blocksOf(answers: readonly NodeAnswer[]): readonly (EvmBlock | undefined)[] {
  return answers.flatMap((answer) => {
    try {
      return answer.ok ? [readBlockIfAny(answer.result)] : []
    } catch {
      return []
    }
  })
}
