import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Block } from '../../port.ts'
import { toBytes, toDecimal, toHash, toList, toNumber, toQuantity, toRecord, toTime } from '../hex.ts'
import { type Nodes, resultsOf } from '../nodes/nodes.ts'
import type { HeaderCheck } from './header-check.ts'
import { keccak256 } from 'ethers'
import { list, number, string } from '../transactions/encode.ts'

export interface EvmBlock extends Block {
  readonly gasLimit: bigint
  /** Whether the header hashes to `hash` by Ethereum's rules. */
  readonly fits: boolean
  /** Absent unless `fits` is true, because only a matching block hash proves the bloom filter. */
  readonly logsBloom?: string
}

type BlockAt = number | 'latest' | 'finalized'

export function blockCall(at: BlockAt) {
  return { method: 'eth_getBlockByNumber', params: () => [typeof at === 'number' ? toQuantity(at) : at, false] }
}

export function readBlock(value: unknown): EvmBlock {
  const raw = toRecord(value, 'block')
  const hash = toHash(raw['hash'], 'block hash')
  const fits = headerHash(raw) === hash
  return {
    height: toNumber(raw['number'], 'block number'),
    hash,
    parentHash: toHash(raw['parentHash'], 'parent hash'),
    timestamp: toTime(raw['timestamp'], 'block timestamp'),
    ...(raw['baseFeePerGas'] != null && { baseFee: toDecimal(raw['baseFeePerGas'], 'base fee') }),
    transactions: toList(raw['transactions'], 'transactions').map((hash) => toHash(hash, 'transaction hash')),
    gasLimit: BigInt(toDecimal(raw['gasLimit'], 'gas limit')),
    fits,
    ...(fits && { logsBloom: toBytes(raw['logsBloom'], 'logs bloom') }),
  }
}

export function readBlockIfAny(value: unknown): EvmBlock | undefined {
  return value === null ? undefined : readBlock(value)
}

/** Undefined if the node has no such block. Throws the errors of `Nodes.request`. */
export function fetchBlock(nodes: Pick<Nodes, 'request'>, at: BlockAt, check?: HeaderCheck) {
  const { method, params } = blockCall(at)
  return nodes.request(method, params(), (value) => {
    const block = readBlockIfAny(value)
    if (!block || !check || check.accepts(block)) return block
    throw new RelayerError('NODE_REFUSED', { detail: "The block's header does not hash to the block hash." })
  })
}

/** Asks all nodes, until `isEnough` returns true. The answer of a node without the block is undefined. */
export async function fetchBlockOfAll(
  nodes: Pick<Nodes, 'askAll'>,
  at: BlockAt,
  isEnough?: (blocks: readonly (EvmBlock | undefined)[]) => boolean,
): Promise<readonly (EvmBlock | undefined)[]> {
  const { method, params } = blockCall(at)
  return resultsOf(await nodes.askAll(method, params(), readBlockIfAny, isEnough && ((_, answers) => isEnough(resultsOf(answers)))))
}

const bytes = (names: string) => names.split(' ').map((name) => ({ name, isNumber: false }))
const numbers = (names: string) => names.split(' ').map((name) => ({ name, isNumber: true }))

/** Fields in the order of their RLP encoding (yellow paper, 4.4.3). */
const first = [
  ...bytes('parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom'),
  ...numbers('difficulty number gasLimit gasUsed timestamp'),
  ...bytes('extraData mixHash nonce'),
]

/** Fields of EIP-1559, 4895, 4844 (two fields), 4788, 7685, in this order (go-ethereum, core/types/block.go). */
const later = [
  ...numbers('baseFeePerGas'),
  ...bytes('withdrawalsRoot'),
  ...numbers('blobGasUsed excessBlobGas'),
  ...bytes('parentBeaconBlockRoot requestsHash'),
]

/** Undefined if a field is missing or malformed. */
export function headerHash(raw: Readonly<Record<string, unknown>>): string | undefined {
  const fields = [...first, ...later.filter(({ name }) => raw[name] != null)]
  const bytesOf = (name: string) => string(Buffer.from(toBytes(raw[name], name).slice(2), 'hex'))
  const numberOf = (name: string) => number(BigInt(toDecimal(raw[name], name)))
  try {
    return keccak256(list(...fields.map(({ name, isNumber }) => (isNumber ? numberOf(name) : bytesOf(name)))))
  } catch {
    return undefined
  }
}
