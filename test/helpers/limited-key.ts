import { withPolicy } from '../../chains/evm/signers/policy.ts'
import type { SignedTransaction, Signer, SigningLimits, UnsignedTransaction } from '../../chains/signing-port.ts'
import { testPolicy } from './signing-policy.ts'

export const self = `0x${'11'.repeat(20)}`
export const treasury = `0x${'22'.repeat(20)}`
export const ether = 10n ** 18n
export const start = Date.UTC(2026, 0, 5, 12)

export function noop(changes: Partial<UnsignedTransaction> = {}): UnsignedTransaction {
  const base = { networkId: '1', to: self, data: '0x', value: '0', gasLimit: '21000', maxFee: '1000000000', tip: '1000000000' }
  return { ...base, nonce: 0, ...changes }
}

/** A no-op that costs at most `wei`. */
export function costing(wei: bigint, nonce: number): UnsignedTransaction {
  return noop({ nonce, gasLimit: '21000', maxFee: String(wei / 21_000n), tip: '0' })
}

interface Key {
  readonly signer: Signer
  readonly signed: UnsignedTransaction[]
}

interface KeyOptions {
  readonly spendingFolder?: string
  readonly clock?: () => number
  /** Data fee of the chain, wei. */
  readonly dataFee?: () => bigint
}

export function keyWith(limits: Partial<SigningLimits>, { spendingFolder, clock, dataFee = () => 0n }: KeyOptions = {}): Key {
  const signed: UnsignedTransaction[] = []
  const key = {
    address: self,
    sign(transaction: UnsignedTransaction) {
      signed.push(transaction)
      return Promise.resolve({ raw: '0x' } as SignedTransaction)
    },
  }
  const policy = testPolicy({
    payees: [treasury],
    dataFee: async () => String(dataFee()),
    limits,
    ...(spendingFolder !== undefined && { spendingFolder }),
  })
  return { signer: withPolicy(key, policy, clock), signed }
}
