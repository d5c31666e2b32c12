import { Transaction, type TransactionLike } from 'ethers'
import type { UnsignedTransaction } from '../../port.ts'

/**
 * The transaction that a signer signs, by its fields alone, so that the same attempt always gives the same bytes. Both fees equal means a legacy
 * transaction (domain/fees/fees.ts): every chain takes it, and where there is a base fee it pays the same as an EIP-1559 one with equal fields.
 */
export function buildTransaction(unsigned: UnsignedTransaction): Transaction {
  const common: TransactionLike = {
    chainId: BigInt(unsigned.networkId),
    nonce: unsigned.nonce,
    to: unsigned.to,
    data: unsigned.data,
    value: BigInt(unsigned.value),
    gasLimit: BigInt(unsigned.gasLimit),
  }
  const fees: TransactionLike =
    unsigned.maxFee === unsigned.tip
      ? { type: 0, gasPrice: BigInt(unsigned.maxFee) }
      : { type: 2, maxFeePerGas: BigInt(unsigned.maxFee), maxPriorityFeePerGas: BigInt(unsigned.tip) }
  return Transaction.from({ ...common, ...fees })
}
