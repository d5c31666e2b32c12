import { keccak256 } from 'ethers'

/** An ECDSA signature over secp256k1 from which the signer's key can be recovered. */
export interface Signature {
  /** r and s, 32 bytes each. */
  readonly compact: Uint8Array
  /** Which of the two points with this r: its y is even (0) or odd (1). */
  readonly yParity: 0 | 1
}

/** Signing and recovery on the curve of Ethereum's accounts. All implementations give the same bytes and verdicts. */
export interface Secp256k1 {
  readonly name: 'native' | 'pure'
  /**
   * Deterministic (RFC 6979 with SHA-256), with s in the lower half (EIP-2). Throws, without quoting its input, if the
   * digest or key has not 32 bytes, or the key is 0 or not below the curve's order.
   */
  sign(digest: Uint8Array, privateKey: Uint8Array): Signature
  /**
   * The signer's address (0x, lower case), by the rules of the precompile `ecrecover`: r and s from 1 to below the
   * order, also the upper half of s. Undefined where `ecrecover` fails, or for inputs of another length or parity.
   * Never throws.
   */
  recover(digest: Uint8Array, compact: Uint8Array, yParity: number): string | undefined
}

/** Bytes of a digest, of a private key, and of r and s. */
export const wordBytes = 32

/** Order of the group of secp256k1 (SEC 2, §2.4.1). */
export const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

export const orderBytes = Buffer.from(curveOrder.toString(16), 'hex')

/** Whether the inputs of a recovery have the right lengths and parity. */
export function isRecoverable(digest: Uint8Array, compact: Uint8Array, yParity: number): boolean {
  return digest.length === wordBytes && compact.length === 2 * wordBytes && (yParity === 0 || yParity === 1)
}

/** A number below 2^256 as 32 big-endian bytes. */
export function toWord(value: bigint): Uint8Array {
  return Buffer.from(value.toString(16).padStart(2 * wordBytes, '0'), 'hex')
}

/** The number of big-endian bytes. */
export function toNumber(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
}

/** The address of an uncompressed public key of 65 bytes: 0x, lower case. */
export function addressOfKey(publicKey: Uint8Array): string {
  return `0x${keccak256(publicKey.subarray(1)).slice(-40)}`
}
