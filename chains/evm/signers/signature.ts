import { Signature, toBeHex, type Transaction } from 'ethers'
import { RelayerError } from '../../../domain/errors.ts'

/** Order of secp256k1 (SEC 2, §2.4.1). */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The two numbers of an ECDSA signature. */
export interface SignatureNumbers {
  readonly r: bigint
  readonly s: bigint
}

/** The raw transaction, `s` in the lower half (EIP-2), with the point that recovers to the address. Throws SIGNER_OFFLINE if neither does. */
export function attachSignature(unsigned: Transaction, { r, s }: SignatureNumbers, address: string): string {
  const low = s > order / 2n ? order - s : s
  for (const yParity of [0, 1] as const) {
    const transaction = unsigned.clone()
    try {
      transaction.signature = Signature.from({ r: toBeHex(r, 32), s: toBeHex(low, 32), yParity })
      if (transaction.from?.toLowerCase() === address) return transaction.serialized
    } catch {
      // No point of the curve has this r.
    }
  }
  throw new RelayerError('SIGNER_OFFLINE', {
    detail: 'Its signature does not recover to the address of the key.',
    facts: { address, nonce: unsigned.nonce },
  })
}

/** The numbers of an ECDSA-Sig-Value in DER (RFC 3279, §2.2.3): SEQUENCE { r INTEGER, s INTEGER }. Undefined if the bytes are anything else. */
export function readDerSignature(bytes: Uint8Array): SignatureNumbers | undefined {
  // A signature of this curve has at most 72 bytes, so every length is one byte.
  if (bytes[0] !== 0x30 || bytes[1] !== bytes.length - 2) return undefined
  const r = readInteger(bytes, 2)
  const s = r && readInteger(bytes, r.end)
  return s && s.end === bytes.length ? { r: r.value, s: s.value } : undefined
}

/** A positive INTEGER: a leading zero stands before a first bit that is set. */
function readInteger(bytes: Uint8Array, at: number): { value: bigint; end: number } | undefined {
  const length = bytes[at + 1] ?? 0
  const end = at + 2 + length
  const content = bytes.subarray(at + 2, end)
  if (bytes[at] !== 0x02 || length === 0 || end > bytes.length || (content[0] ?? 0) >= 0x80) return undefined
  return { value: BigInt(`0x${Buffer.from(content).toString('hex')}`), end }
}
