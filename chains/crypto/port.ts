/** An ECDSA signature over secp256k1 from which the signer's key can be recovered. */
export interface Signature {
  /** r and s, 32 bytes each. */
  readonly compact: Uint8Array
  /** Which of the two points with this r: its y is even (0) or odd (1). */
  readonly yParity: 0 | 1
}

/** Signing and recovery on the curve of Ethereum's accounts. All implementations give the same bytes and the same verdicts. */
export interface Secp256k1 {
  readonly name: 'native' | 'pure'
  /**
   * Deterministic (RFC 6979 with SHA-256), s in the lower half (EIP-2): the same input gives the same bytes in every process. Throws an error without its
   * input for a digest or a key that has not 32 bytes, and for a key that is 0 or not below the order.
   */
  sign(digest: Uint8Array, privateKey: Uint8Array): Signature
  /**
   * The address (0x, lower case) whose key signed, as the precompile `ecrecover` has it: any r and s from 1 to below the order, the upper half of s too.
   * Undefined where `ecrecover` recovers nothing, and for what has not 32 and 64 bytes or a parity of 0 or 1. Throws never.
   */
  recover(digest: Uint8Array, compact: Uint8Array, yParity: number): string | undefined
}
