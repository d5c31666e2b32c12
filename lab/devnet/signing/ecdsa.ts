import { randomBytes } from 'node:crypto'
import { SigningKey } from 'ethers'

/** Order of secp256k1 (SEC 2, §2.4.1). */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/**
 * Signs as a KMS does: two signatures of one digest differ, and `s` may be in either half. Not in constant time, so for
 * DEVNET keys only. `digest`: 32 bytes. `privateKey`: 0x hex.
 */
export function signWithRandom(digest: Uint8Array, privateKey: string): { r: bigint; s: bigint } {
  for (;;) {
    const random = BigInt(`0x${randomBytes(32).toString('hex')}`)
    if (random === 0n || random >= order) continue
    const x = SigningKey.computePublicKey(`0x${random.toString(16).padStart(64, '0')}`).slice(4, 68)
    const r = BigInt(`0x${x}`) % order
    const z = BigInt(`0x${Buffer.from(digest).toString('hex')}`)
    const s = (power(random, order - 2n) * (z + r * BigInt(privateKey))) % order
    if (r !== 0n && s !== 0n) return { r, s }
  }
}

/** The signature as the DER of an ECDSA-Sig-Value, which a KMS returns. */
export function toDer({ r, s }: { r: bigint; s: bigint }): Buffer {
  const body = Buffer.concat([integer(r), integer(s)])
  return Buffer.concat([Buffer.from([0x30, body.length]), body])
}

/** The shortest DER integer. A number whose first bit is set gets a leading zero byte, which keeps it positive. */
function integer(value: bigint): Buffer {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  const content = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes
  return Buffer.concat([Buffer.from([0x02, content.length]), content])
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let rest = exponent, square = base % order; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % order
    square = (square * square) % order
  }
  return result
}
