import { RelayerError } from '../../../domain/errors.ts'
import type { SigningPolicy, Signer, UnsignedTransaction } from '../../port.ts'

/** `transfer(address,uint256)` of ERC-20. */
const tokenTransfer = '0xa9059cbb'

/** Signs only no-ops to itself, listed functions, and coins and tokens to listed payees. Throws SIGNING_REFUSED before the key is touched. */
export function withPolicy(signer: Signer, policy: SigningPolicy): Signer {
  return {
    address: signer.address,
    async sign(transaction) {
      const reason = refusal(transaction, signer.address, policy)
      if (reason === undefined) return signer.sign(transaction)
      const { to, data, value, nonce } = transaction
      const facts = { address: signer.address, nonce, to, selector: selectorOf(data), value }
      throw new RelayerError('SIGNING_REFUSED', { detail: reason, facts })
    },
  }
}

/** Why it may not be signed, or undefined. */
export function refusal(transaction: UnsignedTransaction, self: string, policy: SigningPolicy): string | undefined {
  const to = transaction.to.toLowerCase()
  const data = transaction.data.toLowerCase()
  if (data === '0x') return refusalOfCoins(to, transaction.value, self, policy)
  if (transaction.value !== '0') return 'A call that carries coins is never allowed.'
  const selector = selectorOf(data)
  if (selector === undefined) return 'The call names no function.'
  if (policy.calls[to]?.includes(selector)) return undefined
  if (policy.tokens.includes(to) && selector === tokenTransfer) {
    const recipient = recipientOf(data)
    return recipient !== undefined && policy.tokenPayees.includes(recipient) ? undefined : 'The token transfer is not to the treasury.'
  }
  return policy.calls[to] ? 'This function of the contract is not allowed.' : 'This contract is not allowed.'
}

function refusalOfCoins(to: string, value: string, self: string, { coinPayees }: SigningPolicy): string | undefined {
  if (to === self) return value === '0' ? undefined : 'A no-op carries no coins.'
  return coinPayees.includes(to) ? undefined : 'Coins may go only to the treasury and to lanes of this chain.'
}

function selectorOf(data: string): string | undefined {
  return /^0x[0-9a-f]{8}/i.exec(data)?.[0].toLowerCase()
}

/** Undefined unless the call is encoded exactly as the ABI says (no dirt before the address, no more bytes): a token must read what was looked at. */
function recipientOf(data: string): string | undefined {
  const recipient = /^0x[0-9a-f]{8}0{24}([0-9a-f]{40})[0-9a-f]{64}$/.exec(data)?.[1]
  return recipient === undefined ? undefined : `0x${recipient}`
}
