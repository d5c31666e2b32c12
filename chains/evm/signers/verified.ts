import { curveOrder, type Signature, toBigint, toWord } from '../../crypto/curve.ts'
import { secp256k1 } from '../../crypto/secp256k1.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Signer, UnsignedTransaction } from '../../signing-port.ts'
import { type EncodedTransaction, encodeTransaction } from '../transactions/encode.ts'

/** `digest` is the keccak256 of `unsigned` (0x hex). A message has no nonce. */
type Signable = Pick<EncodedTransaction, 'unsigned' | 'digest'> & Partial<Pick<EncodedTransaction, 'nonce'>>

export interface Key {
  readonly address: string
  /** Remote services return only r and s. Throws SIGNER_OFFLINE, SIGNER_UNAVAILABLE. */
  sign(signable: Signable): Promise<Signature | SignatureNumbers>
}

/**
 * Makes a signer that checks the key's signatures. It throws SIGNER_UNAVAILABLE for bad fields, SIGNER_OFFLINE for bad
 * signatures.
 */
export function verified(key: Key): Signer {
  const { address } = key
  return {
    address,
    async sign(unsigned) {
      const transaction = encode(unsigned, address)
      return { ...transaction.signed(await signatureBy(key, transaction)), signingHash: transaction.signingHash }
    },
  }
}

/**
 * Asks the key for a signature, and checks it. Throws SIGNER_UNAVAILABLE, and SIGNER_OFFLINE, which can also mean that
 * another key has signed.
 */
export async function signatureBy(key: Key, signable: Signable): Promise<Signature> {
  const { digest, nonce } = signable
  const { address } = key
  const answer = await key.sign(signable)
  const isOwn = 'compact' in answer && secp256k1().recover(digest, answer.compact, answer.yParity) === address
  const signature = 'compact' in answer ? isOwn && answer : signatureOf(address, digest, answer)
  if (signature) return signature
  throw new RelayerError('SIGNER_OFFLINE', {
    detail: 'Its signature does not recover to the address of the key.',
    facts: { address, nonce },
  })
}

function encode(unsigned: UnsignedTransaction, address: string): EncodedTransaction {
  try {
    return encodeTransaction(unsigned)
  } catch (error) {
    // Only the text of these two classes is shown, because other errors may quote the input.
    const reason = error instanceof RangeError || error instanceof TypeError ? error.message : 'a field is not what it should be'
    throw new RelayerError('SIGNER_UNAVAILABLE', {
      detail: `The transaction could not be signed: ${reason}`,
      facts: { address, nonce: unsigned.nonce },
    })
  }
}

export interface SignatureNumbers {
  readonly r: bigint
  readonly s: bigint
}

function signatureOf(address: string, digest: Uint8Array, { r, s }: SignatureNumbers): Signature | undefined {
  if (r < 1n || r >= curveOrder || s < 1n || s >= curveOrder) return undefined
  const compact = Buffer.concat([toWord(r), toWord(s > curveOrder / 2n ? curveOrder - s : s)])
  const yParity = ([0, 1] as const).find((parity) => secp256k1().recover(digest, compact, parity) === address)
  return yParity === undefined ? undefined : { compact, yParity }
}

/** An ECDSA-Sig-Value in DER (RFC 3279, §2.2.3): SEQUENCE { r INTEGER, s INTEGER }. Undefined if malformed. */
export function readDerSignature(bytes: Uint8Array): SignatureNumbers | undefined {
  if (bytes[0] !== 0x30 || bytes[1] !== bytes.length - 2) return undefined
  const r = readInteger(bytes, 2)
  const s = r && readInteger(bytes, r.end)
  return s && s.end === bytes.length ? { r: r.value, s: s.value } : undefined
}

/** In DER, an integer whose first bit is set would be negative, so a zero byte precedes such an integer. */
function readInteger(bytes: Uint8Array, at: number): { value: bigint; end: number } | undefined {
  const length = bytes[at + 1] ?? 0
  const end = at + 2 + length
  const content = bytes.subarray(at + 2, end)
  if (bytes[at] !== 0x02 || length === 0 || end > bytes.length || (content[0] ?? 0) >= 0x80) return undefined
  return { value: toBigint(content), end }
}
