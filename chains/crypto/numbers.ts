/** Bytes of a digest, of a private key, and of each of the two numbers of a signature. */
export const wordBytes = 32

/** Order of the group of secp256k1 (SEC 2, §2.4.1). */
export const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

export const orderBytes = Buffer.from(curveOrder.toString(16), 'hex')

/** Can anything be recovered from what is this long, with this parity? */
export function isRecoverable(digest: Uint8Array, compact: Uint8Array, yParity: number): boolean {
  return digest.length === wordBytes && compact.length === 2 * wordBytes && (yParity === 0 || yParity === 1)
}

/** A number below 2^256 as 32 bytes, the highest first. */
export function toWord(value: bigint): Uint8Array {
  return Buffer.from(value.toString(16).padStart(2 * wordBytes, '0'), 'hex')
}

/** The number that bytes are, the highest first. */
export function toNumber(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
}
