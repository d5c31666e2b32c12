import { isError, keccak256, Transaction } from 'ethers'
import { RelayerError } from '../../../domain/errors.ts'
import type { Signer, UnsignedTransaction } from '../../signing-port.ts'
import { buildTransaction } from '../transactions/build.ts'

/** What differs from one kind of signer to another: where the key is, and how it is asked. */
export interface Key {
  /** 0x address, lower case. */
  readonly address: string
  /** The signed transaction as raw hex. Throws SIGNER_OFFLINE, SIGNER_UNAVAILABLE. */
  sign(transaction: Transaction): Promise<string>
}

/** Believes no key: the answer must be what was asked for, as nodes take it. Throws SIGNER_UNAVAILABLE for bad fields, SIGNER_OFFLINE for a wrong answer. */
export function verified(key: Key): Signer {
  return {
    address: key.address,
    async sign(unsigned) {
      const transaction = build(unsigned, key.address)
      const raw = await key.sign(transaction)
      const signed = parse(raw)
      const facts = { address: key.address, nonce: unsigned.nonce }
      if (!signed || signed.unsignedHash !== transaction.unsignedHash || signed.serialized !== raw) {
        throw new RelayerError('SIGNER_OFFLINE', { detail: 'It signed something else than it was asked to.', facts })
      }
      const actual = signed.from?.toLowerCase()
      if (actual !== key.address) {
        throw new RelayerError('SIGNER_OFFLINE', { detail: 'It signed with another key.', facts: { ...facts, actual } })
      }
      return { raw, hash: keccak256(raw), signingHash: transaction.unsignedHash }
    },
  }
}

function build(unsigned: UnsignedTransaction, address: string): Transaction {
  try {
    const transaction = buildTransaction(unsigned)
    // Encoding refuses what the fields alone let pass: a tip above the fee.
    void transaction.unsignedSerialized
    return transaction
  } catch (error) {
    const reason = isError(error, 'INVALID_ARGUMENT') || isError(error, 'BAD_DATA') ? error.shortMessage : 'unknown reason'
    // No cause: ethers lists all of its input there.
    throw new RelayerError('SIGNER_UNAVAILABLE', {
      detail: `The transaction could not be signed: ${reason}`,
      facts: { address, nonce: unsigned.nonce },
    })
  }
}

function parse(raw: string): Transaction | undefined {
  try {
    return Transaction.from(raw)
  } catch {
    return undefined
  }
}
