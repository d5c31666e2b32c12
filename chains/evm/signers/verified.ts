import type { Signature } from '../../crypto/curve.ts'
import { secp256k1 } from '../../crypto/secp256k1.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Signer, UnsignedTransaction } from '../../signing-port.ts'
import { type EncodedTransaction, encodeTransaction } from '../transactions/encode.ts'
import { signatureOf, type SignatureNumbers } from './signature.ts'

export interface Key {
  readonly address: string
  /** A signature, or the two numbers of a remote service. Throws SIGNER_OFFLINE, SIGNER_UNAVAILABLE. */
  sign(transaction: EncodedTransaction): Promise<Signature | SignatureNumbers>
}

/** Trusts no key: checks address and low `s`. Throws SIGNER_UNAVAILABLE (fields), SIGNER_OFFLINE (wrong signature). */
export function verified(key: Key): Signer {
  const { address } = key
  return {
    address,
    async sign(unsigned) {
      const transaction = encode(unsigned, address)
      const { digest, signingHash } = transaction
      const answer = await key.sign(transaction)
      const signature = 'compact' in answer ? ofAddress(address, digest, answer) : signatureOf(address, digest, answer)
      if (signature) return { ...transaction.signed(signature), signingHash }
      const facts = { address, nonce: unsigned.nonce }
      throw new RelayerError('SIGNER_OFFLINE', { detail: 'Its signature does not recover to the address of the key.', facts })
    },
  }
}

function ofAddress(address: string, digest: Uint8Array, signature: Signature): Signature | undefined {
  return secp256k1().recover(digest, signature.compact, signature.yParity) === address ? signature : undefined
}

function encode(unsigned: UnsignedTransaction, address: string): EncodedTransaction {
  try {
    return encodeTransaction(unsigned)
  } catch (error) {
    // Other errors may quote the input.
    const reason = error instanceof RangeError || error instanceof TypeError ? error.message : 'a field is not what it should be'
    throw new RelayerError('SIGNER_UNAVAILABLE', {
      detail: `The transaction could not be signed: ${reason}`,
      facts: { address, nonce: unsigned.nonce },
    })
  }
}
