import { type BaseWallet, keccak256 } from 'ethers'
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
        const raw = await wallet.signTransaction(buildTransaction(unsigned))
        return { raw, hash: keccak256(raw) }
      } catch (error) {
        // ethers lists the transaction's fields in its errors, never the key.
        throw new RelayerError('SIGNER_UNAVAILABLE', { detail: 'The transaction could not be signed.', facts: { address, nonce: unsigned.nonce }, cause: error })
      }
    },
  }
}
