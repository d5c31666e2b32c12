import { keccak256 } from 'ethers'

export interface Signature {
  readonly compact: Uint8Array
  readonly yParity: 0 | 1
}

export interface Secp256k1 {
  readonly name: 'native' | 'pure'
  /**
   * Deterministic (RFC 6979, SHA-256), with a low s (EIP-2). Throws for a bad digest or key. The error quotes neither.
   */
  sign(digest: Uint8Array, privateKey: Uint8Array): Signature
  /** Returns the address (0x, lower case), also for a high s, as ecrecover does. Undefined if invalid. Never throws. */
  recover(digest: Uint8Array, compact: Uint8Array, yParity: number): string | undefined
}

export const wordBytes = 32

/** Order of the group of secp256k1 (SEC 2, §2.4.1). */
export const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

export function isRecoverable(digest: Uint8Array, compact: Uint8Array, yParity: number): boolean {
  return digest.length === wordBytes && compact.length === 2 * wordBytes && (yParity === 0 || yParity === 1)
}

export function toWord(value: bigint): Uint8Array {
  return Buffer.from(value.toString(16).padStart(2 * wordBytes, '0'), 'hex')
}

export function toBigint(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
}

export function addressOfKey(publicKey: Uint8Array): string {
  return `0x${keccak256(publicKey.subarray(1)).slice(-40)}`
}
