import { keccak256 } from 'ethers'
import { toBigint } from '../../chains/crypto/curve.ts'
import { secp256k1 } from '../../chains/crypto/secp256k1.ts'
import { toHex } from '../../domain/vaa.ts'
import type { RelayInstructions } from './requests.ts'

/** A quote of the form EQ01 (example-messaging-executor, README). */
export interface Quote {
  /** 0x, lower case. Names the provider. */
  readonly quoter: string
  /** Account that gets the payment on the source chain: 64 lower-case hex digits without 0x. */
  readonly payee: string
  readonly sourceChain: number
  readonly targetChain: number
  /** Seconds since the epoch, u64. */
  readonly expiry: bigint
  /** Coins of the source with 10 decimals, u64. */
  readonly baseFee: bigint
  /** Price of a gas unit on the target, u64 (wei on EVM). */
  readonly gasPrice: bigint
  /** USD, 10 decimals, u64. */
  readonly sourcePrice: bigint
  readonly targetPrice: bigint
}

/** No transaction begins with these letters, so the signature of a quote is never the signature of a transaction. */
const prefix = Buffer.from('EQ01')
const bodyBytes = 100
/** r, s, v (27 or 28). */
const signatureBytes = 65

/** Encodes a quote without its signature. Throws RangeError if a number is too large for its field. */
export function encodeQuote(quote: Quote): Uint8Array {
  const bytes = Buffer.alloc(bodyBytes)
  prefix.copy(bytes)
  bytes.write(quote.quoter.slice(2), 4, 20, 'hex')
  bytes.write(quote.payee, 24, 32, 'hex')
  bytes.writeUInt16BE(quote.sourceChain, 56)
  bytes.writeUInt16BE(quote.targetChain, 58)
  const numbers = [quote.expiry, quote.baseFee, quote.gasPrice, quote.sourcePrice, quote.targetPrice]
  for (const [index, number] of numbers.entries()) bytes.writeBigUInt64BE(number, 60 + 8 * index)
  return bytes
}

/**
 * Undefined unless the bytes are a complete EQ01 quote with a price of the source's coin. Does not check the signature.
 */
export function decodeQuote(signed: Uint8Array): Quote | undefined {
  if (signed.length !== bodyBytes + signatureBytes || Buffer.compare(signed.subarray(0, 4), prefix) !== 0) return undefined
  const number = (at: number, size: number) => toBigint(signed.subarray(at, at + size))
  const quote = {
    quoter: `0x${toHex(signed.subarray(4, 24))}`,
    payee: toHex(signed.subarray(24, 56)),
    sourceChain: Number(number(56, 2)),
    targetChain: Number(number(58, 2)),
    expiry: number(60, 8),
    baseFee: number(68, 8),
    gasPrice: number(76, 8),
    sourcePrice: number(84, 8),
    targetPrice: number(92, 8),
  }
  return quote.sourcePrice === 0n ? undefined : quote
}

export function signatureOf(signed: Uint8Array): Uint8Array {
  return signed.subarray(bodyBytes)
}

export function isSignedBy(quoter: string, signed: Uint8Array): boolean {
  const signature = signatureOf(signed)
  const digest = Buffer.from(keccak256(signed.subarray(0, bodyBytes)).slice(2), 'hex')
  return secp256k1().recover(digest, signature.subarray(0, 64), (signature[64] ?? 0) - 27) === quoter
}

/** Wei per unit of a quote's base fee, which has 10 decimals (1 coin = 10^10 units). */
const weiPerUnit = 10n ** 8n

/**
 * Number of bytes for which the price of a request includes the fee for data. Calls with 13 signatures have about 1,300
 * bytes.
 */
export const pricedDataBytes = 2_000

/** Adds a fee for data, wei of the target's coin, to a base fee. Rounds up. */
export function withDataFee(
  baseFee: bigint,
  dataFee: bigint,
  { sourcePrice, targetPrice }: Pick<Quote, 'sourcePrice' | 'targetPrice'>,
): bigint {
  return baseFee + divideUp(dataFee * targetPrice, sourcePrice * weiPerUnit)
}

/** Price of a request, wei of the source's coin, rounded up. */
export function costOf(quote: Pick<Quote, 'baseFee' | 'gasPrice' | 'sourcePrice' | 'targetPrice'>, wanted: RelayInstructions): bigint {
  const { gasLimit, msgValue, dropOff } = wanted
  const needed = gasLimit * quote.gasPrice + msgValue + dropOff
  return quote.baseFee * weiPerUnit + divideUp(needed * quote.targetPrice, quote.sourcePrice)
}

export function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}
