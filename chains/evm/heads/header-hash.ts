import { keccak256 } from 'ethers'
import { toBytes } from '../hex.ts'
import { list, number, string } from '../rlp.ts'

type Field = readonly [name: string, kind: 'bytes' | 'number']

/** Fields of every block, by place (yellow paper, 4.4.3). */
const first: readonly Field[] = [
  ['parentHash', 'bytes'],
  ['sha3Uncles', 'bytes'],
  ['miner', 'bytes'],
  ['stateRoot', 'bytes'],
  ['transactionsRoot', 'bytes'],
  ['receiptsRoot', 'bytes'],
  ['logsBloom', 'bytes'],
  ['difficulty', 'number'],
  ['number', 'number'],
  ['gasLimit', 'number'],
  ['gasUsed', 'number'],
  ['timestamp', 'number'],
  ['extraData', 'bytes'],
  ['mixHash', 'bytes'],
  ['nonce', 'bytes'],
]

/** Fields appended by forks: EIP-1559, 4895, 4844 (two), 4788, 7685 (go-ethereum core/types/block.go, Header). */
const later: readonly Field[] = [
  ['baseFeePerGas', 'number'],
  ['withdrawalsRoot', 'bytes'],
  ['blobGasUsed', 'number'],
  ['excessBlobGas', 'number'],
  ['parentBeaconBlockRoot', 'bytes'],
  ['requestsHash', 'bytes'],
]

/** Undefined if fields are missing or malformed. */
export function headerHash(raw: Readonly<Record<string, unknown>>): string | undefined {
  const fields = [...first, ...later.filter(([name]) => raw[name] != null)]
  try {
    return keccak256(
      list(...fields.map(([name, kind]) => (kind === 'bytes' ? string(bytesOf(raw[name], name)) : number(numberOf(raw[name], name))))),
    )
  } catch {
    return undefined
  }
}

function bytesOf(value: unknown, what: string): Buffer {
  return Buffer.from(toBytes(value, what).slice(2), 'hex')
}

function numberOf(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw new TypeError(`no valid ${what}`)
  return BigInt(value)
}
