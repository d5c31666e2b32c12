import type { BaseWallet } from 'ethers'
import { RelayerError } from '../../../domain/errors.ts'
import type { Key } from './verified.ts'

/** A key in memory. ECDSA with RFC 6979 nonces: the same input gives the same bytes. */
export function createWalletKey(wallet: BaseWallet): Key {
  const address = wallet.address.toLowerCase()
  return {
    address,
    async sign(transaction) {
      try {
        return await wallet.signTransaction(transaction)
      } catch {
        // No cause: ethers lists all of its input there.
        throw new RelayerError('SIGNER_UNAVAILABLE', {
          detail: 'The transaction could not be signed.',
          facts: { address, nonce: transaction.nonce },
        })
      }
    },
  }
}
