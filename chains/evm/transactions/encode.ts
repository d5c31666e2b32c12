import { getAddress, keccak256 } from 'ethers'
import { type Signature, toBigint, wordBytes } from '../../crypto/curve.ts'
import type { UnsignedTransaction } from '../../signing-port.ts'

export interface EncodedTransaction {
  readonly nonce: number
  /** The bytes to sign (EIP-155, EIP-1559): 0x, lower case. */
  readonly unsigned: string
  readonly digest: Uint8Array
  readonly signingHash: string
  signed(signature: Signature): { readonly raw: string; readonly hash: string }
}

const type2 = Buffer.from([2])
const emptyList = Buffer.from([0xc0])

/** Legacy if `maxFee` equals `tip`, otherwise type 2. Throws RangeError, SyntaxError, TypeError. */
export function encodeTransaction(transaction: UnsignedTransaction): EncodedTransaction {
  const { nonce, maxFee, tip } = transaction
  if (!Number.isSafeInteger(nonce) || nonce < 0) throw new RangeError('The nonce is not a whole number.')
  const [chainId, gasPrice, priority] = [BigInt(transaction.networkId), BigInt(maxFee), BigInt(tip)]
  if (priority > gasPrice) throw new RangeError('The tip is above the fee.')
  const { gasLimit, to, value, data } = transaction
  const call = [number(BigInt(gasLimit)), string(addressBytes(to)), number(BigInt(value)), string(dataBytes(data))]
  const [first, fee] = [number(BigInt(nonce)), number(gasPrice)]
  if (maxFee === tip) return legacy(nonce, Buffer.concat([first, fee, ...call]), chainId)
  return dynamicFee(nonce, Buffer.concat([number(chainId), first, number(priority), fee, ...call, emptyList]))
}

function dynamicFee(nonce: number, fields: Buffer): EncodedTransaction {
  const typed = (...more: readonly Buffer[]) => Buffer.concat([type2, list(fields, ...more)])
  return encoded(nonce, typed(), (yParity, r, s) => typed(number(BigInt(yParity)), r, s))
}

function legacy(nonce: number, fields: Buffer, chainId: bigint): EncodedTransaction {
  const unsigned = list(fields, number(chainId), number(0n), number(0n))
  return encoded(nonce, unsigned, (yParity, r, s) => list(fields, number(chainId * 2n + 35n + BigInt(yParity)), r, s))
}

function encoded(nonce: number, unsigned: Buffer, attach: (yParity: 0 | 1, r: Buffer, s: Buffer) => Buffer): EncodedTransaction {
  const signingHash = keccak256(unsigned)
  return {
    nonce,
    unsigned: hex(unsigned),
    digest: Buffer.from(signingHash.slice(2), 'hex'),
    signingHash,
    signed({ compact, yParity }) {
      const [r, s] = [toBigint(compact.subarray(0, wordBytes)), toBigint(compact.subarray(wordBytes))]
      const raw = attach(yParity, number(r), number(s))
      return { raw: hex(raw), hash: keccak256(raw) }
    },
  }
}

function addressBytes(address: string): Buffer {
  const digits = /^0x([0-9a-f]{40})$/i.exec(address)?.[1]
  if (digits === undefined) throw new TypeError('The recipient is not an address.')
  if (digits !== digits.toLowerCase()) getAddress(address)
  return Buffer.from(digits, 'hex')
}

function dataBytes(data: string): Buffer {
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(data)) throw new TypeError('The data is not hex of whole bytes.')
  return Buffer.from(data.slice(2), 'hex')
}

function hex(bytes: Buffer): string {
  return `0x${bytes.toString('hex')}`
}

const limit256 = 2n ** 256n

export function number(value: bigint): Buffer {
  if (value < 0n || value >= limit256) throw new RangeError('A number is below 0 or has more than 32 bytes.')
  return string(value === 0n ? Buffer.alloc(0) : bytesOf(value))
}

/** A single byte below 0x80 is its own encoding (yellow paper, appendix B). */
export function string(bytes: Buffer): Buffer {
  return bytes.length === 1 && (bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([header(0x80, bytes.length), bytes])
}

export function list(...items: readonly Buffer[]): Buffer {
  const length = items.reduce((sum, item) => sum + item.length, 0)
  return Buffer.concat([header(0xc0, length), ...items])
}

function header(offset: number, length: number): Buffer {
  if (length <= 55) return Buffer.from([offset + length])
  const bytes = bytesOf(length)
  return Buffer.concat([Buffer.from([offset + 55 + bytes.length]), bytes])
}

function bytesOf(value: bigint | number): Buffer {
  const digits = value.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}
