import { Transaction, type TransactionLike } from 'ethers'
import type { UnsignedTransaction } from '../../signing-port.ts'

/** By its fields alone: an attempt always gives the same bytes. Equal fees make a legacy transaction (domain/fees/fees.ts), which every chain takes. */
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
