import { type Facts, RelayerError } from '../../../domain/catalogue/errors.ts'
import { mostNoopGas } from '../../../domain/fees/noop-gas.ts'
import type { Proposed, Signer, SigningPolicy } from '../../signing-port.ts'
import { costOf, type Passed, passed, passedLimit } from './limits.ts'
import { rememberProofs } from './proofs.ts'
import type { SpendingCounter } from './spending-counter.ts'
import { createSpendingLog, createSpendingMemory } from './spending-log.ts'

/** `transfer(address,uint256)` of ERC-20. */
const tokenTransfer = '0xa9059cbb'

/** `delivery`: of a bridge, and to be proved. `own`: allowed as it is. Else why it may not be signed, and what of the config says so. */
type Judged = 'delivery' | 'own' | { readonly reason: string; readonly by: 'calls' | 'payees' }

/**
 * The last thing before the key, whatever asks for a signature. Signs only no-ops to itself, coins and tokens to listed payees, operators' calls that the config
 * lists, and deliveries that `justify` proves; each within the limits, and all together within those of an hour and a day. See `Signer` for what it throws.
 */
export function withPolicy(signer: Signer, policy: SigningPolicy, clock: () => number = Date.now): Signer {
  const { limits, spendingFolder } = policy
  const proofs = rememberProofs(policy.justify, clock)
  const log = spendingFolder === undefined ? createSpendingMemory(clock) : createSpendingLog(spendingFolder, clock)

  const refuse = (transaction: Proposed, detail: string, facts: Facts): never => {
    const { to, data, value, nonce } = transaction
    throw new RelayerError('SIGNING_REFUSED', {
      detail,
      facts: { lane: policy.lane, nonce, to, selector: selectorOf(data), value, ...facts },
    })
  }
  const refuseBeyond = (transaction: Proposed, found: Passed | undefined, facts: Facts = {}) => {
    if (!found) return
    const { limit, value, allowed } = found
    refuse(transaction, `It passes ${policy.fieldOf(limit)}.`, { limit, wanted: String(value), allowed: String(allowed), ...facts })
  }
  const refuseSpending = (transaction: Proposed, cost: bigint) => (spending: SpendingCounter, nowMs: number) => {
    // Also where it adds nothing: what is counted for its nonce may have been refused after it was counted, since others were at it.
    const added = spending.added(cost, transaction.nonce)
    refuseBeyond(transaction, passed('maxSpendingPerHourWei', spending.spent('hour', nowMs) + added, limits))
    refuseBeyond(transaction, passed('maxSpendingPerDayWei', spending.spent('day', nowMs) + added, limits))
  }

  /** All but spending. Returns the most that it can cost, wei. */
  async function allow(transaction: Proposed): Promise<bigint> {
    const { to, data, value } = transaction
    const judged = judge(transaction, signer.address, policy)
    if (typeof judged === 'object') refuse(transaction, `${judged.reason} ${policy.fieldOf(judged.by)} decides.`, {})
    refuseBeyond(transaction, passedLimit(transaction, 0n, limits))
    // It would count as its whole gas limit in what the key may spend, and cost a fraction of it.
    const noopGas = isNoop(transaction, signer.address) ? BigInt(transaction.gasLimit) : 0n
    if (noopGas > mostNoopGas) refuse(transaction, `A no-op is signed with at most ${mostNoopGas} gas.`, { wanted: String(noopGas) })
    const dataFee = BigInt(await policy.dataFee({ to, data, value }))
    // Without it, it was within them: it is the reason, and as it is now.
    refuseBeyond(transaction, passedLimit(transaction, dataFee, limits), { dataFee: String(dataFee) })
    if (judged === 'delivery') await proofs.prove({ to, data, value }, transaction.nonce)
    return costOf(transaction, dataFee)
  }

  return {
    address: signer.address,
    async check(transaction) {
      const cost = await allow(transaction)
      await log.load()
      refuseSpending(transaction, cost)(log.spending, clock())
    },
    async sign(transaction) {
      const cost = await allow(transaction)
      await log.charge(cost, transaction.nonce, refuseSpending(transaction, cost))
      const signed = await signer.sign(transaction)
      proofs.signed(transaction, transaction.nonce)
      return signed
    },
    spending: () => [
      { window: 'hour', spent: log.spending.spent('hour', clock()), limit: BigInt(limits.maxSpendingPerHourWei) },
      { window: 'day', spent: log.spending.spent('day', clock()), limit: BigInt(limits.maxSpendingPerDayWei) },
    ],
  }
}

/** What a transaction is by its target, function and payee. */
export function judge(transaction: Pick<Proposed, 'to' | 'data' | 'value'>, self: string, policy: SigningPolicy): Judged {
  const to = transaction.to.toLowerCase()
  const data = transaction.data.toLowerCase()
  if (data === '0x') return judgeCoins(to, transaction.value, self, policy)
  const { calls, operatorCalls, tokens, tokenPayees } = policy
  if (transaction.value !== '0') return { reason: 'A call that carries coins is never allowed.', by: 'calls' }
  const selector = selectorOf(data)
  if (selector === undefined) return { reason: 'The call names no function.', by: 'calls' }
  // Before the operators' calls: no list of those makes a delivery one that needs no proof.
  if (calls[to]?.includes(selector)) return 'delivery'
  if (operatorCalls[to]?.some((start) => data.startsWith(start))) return 'own'
  if (tokens.includes(to) && selector === tokenTransfer) {
    const recipient = recipientOf(data)
    const isPayee = recipient !== undefined && tokenPayees.includes(recipient)
    return isPayee ? 'own' : { reason: 'The token transfer is not to the treasury.', by: 'payees' }
  }
  const isKnown = calls[to] ?? operatorCalls[to]
  if (operatorCalls[to]?.some((start) => start.startsWith(selector)))
    return { reason: 'Its first arguments are not those that are allowed.', by: 'calls' }
  return { reason: isKnown ? 'This function of the contract is not allowed.' : 'This contract is not allowed.', by: 'calls' }
}

function judgeCoins(to: string, value: string, self: string, { coinPayees }: SigningPolicy): Judged {
  if (to === self) return value === '0' ? 'own' : { reason: 'A no-op carries no coins.', by: 'payees' }
  if (coinPayees.includes(to)) return 'own'
  return { reason: 'Coins may go only to the treasury and to lanes of this chain.', by: 'payees' }
}

function isNoop({ to, data }: Pick<Proposed, 'to' | 'data'>, self: string): boolean {
  return data === '0x' && to.toLowerCase() === self
}

function selectorOf(data: string): string | undefined {
  return /^0x[0-9a-f]{8}/i.exec(data)?.[0].toLowerCase()
}

/** Undefined unless the call is encoded exactly as the ABI says (no dirt before the address, no more bytes): a token must read what was looked at. */
function recipientOf(data: string): string | undefined {
  const recipient = /^0x[0-9a-f]{8}0{24}([0-9a-f]{40})[0-9a-f]{64}$/.exec(data)?.[1]
  return recipient === undefined ? undefined : `0x${recipient}`
}
