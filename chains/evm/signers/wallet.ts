import { type BaseWallet, isError, keccak256 } from 'ethers'
import { RelayerError } from '../../../domain/errors.ts'
import type { Signer } from '../../port.ts'
import { buildTransaction } from '../transactions.ts'

/** A signer of a key in memory. ECDSA with RFC 6979 nonces: the same input gives the same bytes. */
export function createWalletSigner(wallet: BaseWallet): Signer {
  const address = wallet.address.toLowerCase()
  return {
    address,
    async sign(unsigned) {
      try {
        const transaction = buildTransaction(unsigned)
        const raw = await wallet.signTransaction(transaction)
        return { raw, hash: keccak256(raw), signingHash: transaction.unsignedHash }
      } catch (error) {
        const detail = `The transaction could not be signed: ${isError(error, 'INVALID_ARGUMENT') || isError(error, 'BAD_DATA') ? error.shortMessage : 'unknown reason'}`
        // No cause: ethers lists all of its input there.
        throw new RelayerError('SIGNER_UNAVAILABLE', { detail, facts: { address, nonce: unsigned.nonce } })
      }
    },
  }
}
