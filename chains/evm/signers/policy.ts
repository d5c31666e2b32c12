import { join } from 'node:path'
import { type Facts, RelayerError } from '../../../domain/catalogue/errors.ts'
import { mostNoopGas } from '../../../domain/fees/fees.ts'
import type { Proposed, ProvedRoute, Signer, SigningLimits, SigningPolicy, Spending, UnsignedTransaction } from '../../signing-port.ts'
import { createSpendingLog, type Exceeded, firstExceeded } from './spending-log.ts'
import { LRUCache } from 'lru-cache'
import { denialOf, haltOf } from '../../../domain/settings/settings.ts'
import { forms, isOf } from '../../../domain/text/forms.ts'
import { fingerprint } from '../../crypto/fingerprint.ts'
import { createPaidCalls, type Payment } from './paid-calls.ts'

/** ERC-20 `transfer(address,uint256)`. */
const tokenTransfer = '0xa9059cbb'

/** `delivery` needs a proof, `own` needs none. An object is a refusal: `by` is the config field that decides. */
type Judged = 'delivery' | 'own' | { readonly reason: string; readonly by: 'calls' | 'payees' | 'topUps' }

/** `cost`: the maximum cost without the call's coins, wei. */
interface Allowed<T> {
  readonly transaction: T
  readonly cost: bigint
  readonly payment: Payment | undefined
}

export function withPolicy(signer: Signer, policy: SigningPolicy, clock: () => number = Date.now): Signer {
  const { limits, topUpLimits } = policy
  const proofs = rememberProofs(policy, clock)
  const paidCalls = createPaidCalls(policy)
  const sums = createSums(policy, clock)

  const refuse = (transaction: Proposed, detail: string, facts: Facts): never => {
    const { to, data, value, nonce } = transaction
    const about = { lane: policy.lane, nonce, to, selector: selectorOf(data), value }
    throw new RelayerError('SIGNING_REFUSED', { detail, facts: { ...about, ...facts } })
  }
  const refuseBeyond = (
    transaction: Proposed,
    found: Exceeded | undefined,
    { what = 'It', facts = {}, fieldOf = policy.fieldOf }: { what?: string; facts?: Facts; fieldOf?: SigningPolicy['fieldOf'] } = {},
  ) => {
    if (!found) return
    const { limit, value, allowed } = found
    refuse(transaction, `${what} exceeds ${fieldOf(limit)}.`, { limit, wanted: String(value), allowed: String(allowed), ...facts })
  }

  /** Checks everything except spending. */
  async function allow<T extends Proposed>(given: T): Promise<Allowed<T>> {
    const transaction = canonical(given)
    const judged = judge(transaction, signer.address, policy)
    if (typeof judged === 'object') refuse(transaction, `${judged.reason} ${policy.fieldOf(judged.by)} decides.`, {})
    refuseBeyond(transaction, exceededLimit(transaction, 0n, limits))
    if (topUpLimits && isTopUp(transaction, policy)) {
      const found = exceededLimit(transaction, 0n, { ...limits, maxPaymentWei: topUpLimits.maxPaymentWei })
      refuseBeyond(transaction, found, { fieldOf: () => `${policy.fieldOf('topUpLimits')}.maxPaymentWei` })
    }
    // Spending counts the whole gas limit of a no-op, so the limit must be low.
    const noopGas = isNoop(transaction, signer.address) ? BigInt(transaction.gasLimit) : 0n
    if (noopGas > mostNoopGas) refuse(transaction, `A no-op is signed with at most ${mostNoopGas} gas.`, { wanted: String(noopGas) })
    const { to, data, value } = transaction
    const dataFee = BigInt(await policy.dataFee({ to, data, value }))
    refuseBeyond(transaction, exceededLimit(transaction, dataFee, limits), { facts: { dataFee: String(dataFee) } })
    const payment = await paidCalls.prove(transaction, async () => (judged === 'delivery' ? proofs.prove(transaction) : []))
    return { transaction, cost: costOf(transaction, dataFee), payment }
  }

  const addedTo = (transaction: Proposed, cost: bigint) =>
    sums.map((sum) => ({ ...sum, wei: sum.weiOf(transaction, cost) })).filter(({ wei }) => wei > 0n)
  async function checkSpending({ transaction, cost }: Pick<Allowed<Proposed>, 'transaction' | 'cost'>): Promise<void> {
    for (const { log, wei, ...texts } of addedTo(transaction, cost))
      refuseBeyond(transaction, await log.check(wei, transaction.nonce), texts)
  }

  return {
    address: signer.address,
    check: async (given) => checkSpending(await allow(given)),
    async sign(given) {
      const { transaction, cost, payment } = await allow(given)
      // All sums are checked before the first is charged, because a charge stays even after a refusal.
      await checkSpending({ transaction, cost })
      for (const { log, wei, ...texts } of addedTo(transaction, cost))
        refuseBeyond(transaction, await log.charge(wei, transaction.nonce), texts)
      const signed = await paidCalls.hold(payment, transaction.nonce, () => signer.sign(transaction))
      proofs.signed(transaction)
      return signed
    },
    spending: () =>
      sums.flatMap(({ kind, windows, log, limits: { maxSpendingPerHourWei: perHour, maxSpendingPerDayWei: perDay } }) =>
        windows.map((window) => ({ kind, window, spent: log.spent(window), limit: BigInt(window === 'hour' ? perHour : perDay) })),
      ),
  }
}

/**
 * Writes `to` and `data` in lower case, also the X of 0X, because the checks compare texts. Otherwise, a payment with
 * the data `0X` would escape the limits of top-ups, and a paid call in upper case could be signed for a second nonce.
 */
function canonical<T extends Pick<Proposed, 'to' | 'data'>>(transaction: T): T {
  return { ...transaction, to: transaction.to.toLowerCase(), data: transaction.data.toLowerCase() }
}

/** Payments have a sum of their own, so that ordered payments do not use up the limits of deliveries. */
function createSums(policy: SigningPolicy, clock: () => number) {
  const { limits, spendingFolder, topUpLimits, fieldOf } = policy
  const sum = (
    kind: Spending['kind'],
    folder: string,
    what: string,
    weiOf: (transaction: Proposed, cost: bigint) => bigint,
    of = limits,
  ) => ({
    ...{ kind, what, weiOf, fieldOf, limits: of, log: createSpendingLog(folder, of, clock) },
    windows: ['hour', 'day'] as readonly Spending['window'][],
  })
  const paid = ({ value }: Proposed) => BigInt(value)
  const sums = [
    sum('cost', spendingFolder, 'The cost of all transactions', (_, cost) => cost),
    sum('payment', join(spendingFolder, 'payments'), 'The sum of all payments', paid),
  ]
  if (!topUpLimits) return sums
  const { maxPerDayWei } = topUpLimits
  const perDay = { ...limits, maxSpendingPerHourWei: maxPerDayWei, maxSpendingPerDayWei: maxPerDayWei }
  const toLanes = (transaction: Proposed) => (isTopUp(transaction, policy) ? paid(transaction) : 0n)
  const topUps = sum('top-up', join(spendingFolder, 'top-ups'), 'The sum of all payments to other lanes', toLanes, perDay)
  return [...sums, { ...topUps, windows: ['day'] as const, fieldOf: () => `${fieldOf('topUpLimits')}.maxPerDayWei` }]
}

function isTopUp({ to, data }: Proposed, { otherLanes }: SigningPolicy): boolean {
  return data === '0x' && otherLanes.includes(to)
}

/** @param transaction in canonical form. */
export function judge({ to, data, value }: Pick<Proposed, 'to' | 'data' | 'value'>, self: string, policy: SigningPolicy): Judged {
  if (data === '0x') return judgeCoins(to, value, self, policy)
  const { calls, paidCalls, openCalls, operatorCalls, tokens, payees } = policy
  // `to` must be an address: in the plain objects below, `constructor` would find an inherited property.
  if (!isOf(forms.address, to)) return { reason: 'This contract is not allowed.', by: 'calls' }
  const selector = selectorOf(data)
  if (selector === undefined) return { reason: 'The call names no function.', by: 'calls' }
  const coins = BigInt(value)
  const mayCarry = (most: string | undefined) => !tokens.includes(to) && coins <= BigInt(most ?? -1)
  const isOpen = mayCarry(openCalls[selector])
  const isListed = calls[to]?.includes(selector) ?? false
  if (coins > 0n && !isOpen && !(isListed && mayCarry(paidCalls[to]?.[selector])))
    return { reason: 'A call that carries coins is allowed only for a delivery with paid or configured coins.', by: 'calls' }
  // Deliveries come first, so that the list of operators' calls cannot exempt a delivery from its proof.
  if (isOpen || isListed) return 'delivery'
  if (operatorCalls[to]?.some((start) => data.startsWith(start))) return 'own'
  if (tokens.includes(to) && selector === tokenTransfer) {
    const recipient = recipientOf(data)
    const isPayee = recipient !== undefined && payees.includes(recipient)
    return isPayee ? 'own' : { reason: 'The token transfer is not to the treasury.', by: 'payees' }
  }
  const isKnown = calls[to] ?? operatorCalls[to]
  if (operatorCalls[to]?.some((start) => start.startsWith(selector)))
    return { reason: 'Its first arguments are not those that are allowed.', by: 'calls' }
  return { reason: isKnown ? 'This function of the contract is not allowed.' : 'This contract is not allowed.', by: 'calls' }
}

function judgeCoins(to: string, value: string, self: string, { payees, topUps, otherLanes }: SigningPolicy): Judged {
  if (to === self) return value === '0' ? 'own' : { reason: 'A no-op carries no coins.', by: 'payees' }
  if (payees.includes(to)) return 'own'
  if (!otherLanes.includes(to))
    return { reason: 'Coins may go only to the treasury and, where top-ups are on, to other lanes.', by: 'payees' }
  return topUps ? 'own' : { reason: 'Coins to other lanes are off.', by: 'topUps' }
}

function costOf({ gasLimit, maxFee }: Pick<Proposed, 'gasLimit' | 'maxFee'>, dataFee: bigint): bigint {
  return BigInt(gasLimit) * BigInt(maxFee) + dataFee
}

function exceededLimit(transaction: Proposed, dataFee: bigint, limits: SigningLimits): Exceeded | undefined {
  const { gasLimit, tip, value } = transaction
  return firstExceeded(limits, [
    ['maxGasPerTransaction', BigInt(gasLimit)],
    ['maxTipPerGasWei', BigInt(tip)],
    ['maxDataFeePerTransactionWei', dataFee],
    ['maxCostPerTransactionWei', costOf(transaction, dataFee)],
    ['maxPaymentWei', BigInt(value)],
  ])
}

function isNoop({ to, data }: Pick<Proposed, 'to' | 'data'>, self: string): boolean {
  return data === '0x' && to === self
}

function selectorOf(data: string): string | undefined {
  return /^0x[0-9a-f]{8}/.exec(data)?.[0]
}

/**
 * Returns the recipient of a token transfer. Undefined unless the data is exactly encoded: in other data, the token
 * might read a different address.
 */
function recipientOf(data: string): string | undefined {
  const recipient = /^0x[0-9a-f]{8}0{24}([0-9a-f]{40})[0-9a-f]{64}$/.exec(data)?.[1]
  return recipient === undefined ? undefined : `0x${recipient}`
}

const mostProved = 4_096

/** Time (ms) for which a proof counts for further nonces. It becomes void, for example, when a guardian set expires. */
const rememberMs = 10 * 60_000

interface Proof {
  readonly at: number
  readonly nonces: Set<number>
  readonly routes: readonly ProvedRoute[]
}

/**
 * Remembers proofs, so that a fee raise needs no new proof. For another nonce, a call with coins is proved again,
 * because the coins may have been paid already.
 */
function rememberProofs(policy: Pick<SigningPolicy, 'proveCall' | 'settings' | 'packages'>, clock: () => number) {
  const proved = new LRUCache<string, Proof>({ max: mostProved })
  return {
    async prove({ to, data, value, gasLimit, nonce }: Proposed): Promise<readonly ProvedRoute[]> {
      const key = keyOf({ to, data, value, gasLimit })
      const before = proved.get(key)
      const isFresh = before !== undefined && Math.abs(clock() - before.at) < rememberMs && BigInt(value) === 0n
      if (before && nonce !== undefined && before.nonces.has(nonce)) return before.routes
      const routes = isFresh ? before.routes : await policy.proveCall({ to, data, value }, gasLimit)
      if (!isFresh) proved.set(key, { at: clock(), nonces: new Set(proved.get(key)?.nonces ?? before?.nonces), routes })
      demandOpen(policy, routes, { to, data })
      return routes
    },
    signed(transaction: UnsignedTransaction): void {
      proved.get(keyOf(transaction))?.nonces.add(transaction.nonce)
    },
  }
}

/** Checks halts and denials for the call itself, because a transfer or an order in Temporal may be forged. */
function demandOpen(
  { settings, packages }: Pick<SigningPolicy, 'settings' | 'packages'>,
  routes: readonly ProvedRoute[],
  { to, data }: Pick<Proposed, 'to' | 'data'>,
): void {
  const now = settings()
  for (const { parties, ...route } of routes) {
    const halt = haltOf(now, route)
    if (halt) throw new RelayerError('HALTED', { detail: `halted by ${halt.by}: ${halt.reason}`, facts: { ...route } })
    const { bridge, targetChain } = route
    const named = packages.has(bridge) ? { recipient: to, token: '', bytes: data.slice(2) } : parties
    const denial = named && denialOf(now, { targetChain, ...named })
    if (denial) throw new RelayerError(denial.code, { detail: denial.reason, facts: { bridge, to } })
  }
}

/** A fee raise keeps the gas limit, so a raised attempt has the same key. */
function keyOf({ to, value, data, gasLimit }: Pick<Proposed, 'to' | 'value' | 'data' | 'gasLimit'>): string {
  return fingerprint(`${to}|${value}|${gasLimit}|${data}`)
}
