import type { Parties } from '../../bridges/port.ts'
import type { Chain } from '../../chains/port.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { problemOf } from '../../observability/severity.ts'
import { ageOf, present } from '../../runtime/moment.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { Waiting } from '../../temporal/contracts/transfer-steps.ts'
import { LRUCache } from 'lru-cache'

const mostKept = 10_000
const mostBatches = 1_000
/**
 * Maximum quarantine of a recipient, ms. A loss within this time after a quarantine makes the next quarantine longer.
 */
const longestWaitMs = 60 * 60_000
/** Time for which the transfers of a reverted batch are delivered alone, ms. This reveals the faulty transfer. */
const batchMs = 60 * 60_000
const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Budget for the losses of all tokens of a chain, as a multiple of the hourly budget of one token. */
export const budgetsPerChain = 4n
/** Time after contracts have begun to wait, ms, in which a block may still include an earlier call to a contract. */
const pendingMs = 2 * minuteMs
/** Time that other relayers get to deliver a transfer first, ms, while they make Portage's calls revert. */
export const othersFirstMs = 60_000

/**
 * A transaction that reverted although its simulation succeeded, or the no-op for a call that every node refused.
 * `paid` is in wei, `now` in ms, as `performance.now`.
 */
export interface Loss {
  readonly txHash: string
  readonly paid: bigint
  readonly now: number
}

/** `until`: ms, as `performance.now`. */
interface Wait {
  readonly until: number
  readonly reason: string
}

type Quarantine = Wait & { readonly kind: 'recipient' | 'token' | 'batch' }

/** `outrun`: another relayer delivered first. Neither the recipient nor the token is at fault. */
type LossKind = 'reverted' | 'outrun'

interface Subject {
  readonly isContract?: boolean | undefined
  /** Time of an operator's retry, ms, as `performance.now`. Earlier losses do not count. */
  readonly retriedAt?: number | undefined
}

/** Wei by minute since the process started. */
type HourlyCosts = ReadonlyMap<number, bigint>

interface BatchLoss {
  readonly token: string
  readonly at: number
  readonly paid: bigint
  readonly recipients: Set<string>
}

export class Losses {
  readonly #recipients = new LRUCache<string, { readonly count: number; readonly last: number }>({ max: mostKept })
  readonly #tokens = new LRUCache<string, { readonly last: number; readonly costs: HourlyCosts }>({ max: mostKept })
  /** Losses of batches by transaction hash. `explained`: another relayer had delivered one of the transfers before. */
  readonly #batches = new LRUCache<string, BatchLoss | 'explained'>({ max: mostBatches })
  readonly #transactions = new LRUCache<string, true>({ max: mostKept })
  readonly #firstWaitMs: number
  readonly #budget: bigint
  readonly reports: LossReports | undefined
  #changes = 0

  /**
   * @param tokenBudget wei per hour and token. Accounts without code, contracts, batches and lost races (another
   * delivery came first) each have a budget of this size.
   */
  constructor(firstWaitMs: number, tokenBudget: bigint, reports?: LossReports) {
    this.#firstWaitMs = firstWaitMs
    this.#budget = tokenBudget
    this.reports = reports
  }

  /** Grows with each loss. While this number stays the same, losses make no further transfer wait. */
  get changes(): number {
    return this.#changes
  }

  /**
   * Adds a reverted or refused call, and returns the quarantines that it begins. Losses to contracts have a budget of
   * their own, because contracts can choose to revert. The chain's budget counts losses to contracts and to other
   * accounts.
   */
  add(parties: Parties, loss: Loss, hadCode = false): readonly Quarantine[] {
    if (!this.#record(parties, loss, 'reverted')) return []
    const { paid, now } = loss
    const isContract = hadCode && !this.#haveContractsWaited(parties, now - pendingMs, now)
    const [recipient, token, chain] = [recipientKey(parties), tokenKey(parties, isContract), parties.targetChain]
    const before = this.#recipients.get(recipient)
    const count = before && now <= before.last + this.#recipientWaitMs(before.count) + longestWaitMs ? before.count : 0
    this.#recipients.set(recipient, { count: count + 1, last: now })
    const waited = this.#waitOfToken(parties, isContract, now)
    // A paid request has paid for its gas, so its losses must not make other deliveries of the chain wait.
    for (const account of parties.lossesOf === undefined ? [token, chain] : [token]) this.#charge(account, paid, now)
    const found: Quarantine[] = []
    const ofRecipient = this.#waitOfRecipient(parties)
    if (ofRecipient && ofRecipient.until > now) found.push({ kind: 'recipient', ...ofRecipient })
    const ofToken = waited ? undefined : this.#waitOfToken(parties, isContract, now)
    if (ofToken) found.push({ kind: 'token', ...ofToken })
    return found
  }

  /**
   * Whether losses before `since` already made contracts wait. A recipient that was admitted while contracts waited had
   * no code then. It may have code by now (EIP-7702), but its loss does not count as the loss of a contract.
   */
  #haveContractsWaited(parties: Parties, since: number, now: number): boolean {
    const costs = lastHour(this.#tokens.get(tokenKey(parties, true))?.costs, now)
    const before = costs.filter(([minute]) => (minute + 1) * minuteMs <= since)
    return aboveBudget(new Map(before), this.#budget, now) !== undefined
  }

  /** Adds gas that was lost because another relayer delivered first. Quarantines nobody. */
  addOutrun(parties: Parties, loss: Loss): void {
    if (this.#record(parties, loss, 'outrun')) this.#charge(outrunKey(parties), loss.paid, loss.now)
  }

  /** Counts and reports the loss. False if the transaction is known already. */
  #record({ targetChain }: Parties, { txHash, paid }: Loss, kind: LossKind): boolean {
    if (this.#transactions.has(txHash)) return false
    this.#transactions.set(txHash, true)
    this.#changes += 1
    this.reports?.lost(targetChain, kind, paid)
    return true
  }

  #charge(account: string, paid: bigint, now: number): void {
    const costs = new Map(lastHour(this.#tokens.get(account)?.costs, now))
    const minute = Math.floor(now / minuteMs)
    this.#tokens.set(account, { last: now, costs: costs.set(minute, (costs.get(minute) ?? 0n) + paid) })
  }

  addBatch(parties: Parties, loss: Loss): readonly Quarantine[] {
    const { txHash, paid, now } = loss
    const recipient = recipientKey(parties)
    const known = this.#batches.get(txHash)
    if (known) {
      if (known !== 'explained') known.recipients.add(recipient)
      return []
    }
    this.#record(parties, loss, 'reverted')
    this.#batches.set(txHash, { token: tokenKey(parties), at: now, paid, recipients: new Set([recipient]) })
    const cost = costOf(this.#recentBatches(parties, now))
    const reason =
      cost > this.#budget
        ? `batches of ${parties.token} that passed their simulation, but reverted or were refused, have cost ${cost} wei within an hour: all transfers of the token go alone`
        : `a batch passed its simulation, but reverted or was refused, and cost ${paid} wei: its transfers go alone`
    return [{ kind: 'batch', until: now + batchMs, reason }]
  }

  explainBatch(txHash: string): void {
    this.#batches.set(txHash, 'explained')
  }

  goesAlone(parties: Parties, now = performance.now()): boolean {
    const batches = this.#recentBatches(parties, now)
    const recipient = recipientKey(parties)
    return batches.some(({ recipients }) => recipients.has(recipient)) || costOf(batches) > this.#budget
  }

  #recentBatches(parties: Parties, now: number): readonly BatchLoss[] {
    const token = tokenKey(parties)
    return [...this.#batches.values()]
      .filter((batch) => batch !== 'explained')
      .filter((batch) => batch.token === token && now < batch.at + batchMs)
  }

  /** The quarantine that holds a transfer back. Undefined if the transfer may be sent now. */
  quarantineOf(parties: Parties, { isContract, retriedAt }: Subject, now = performance.now()): Waiting | undefined {
    const classes = isContract ? [false, true] : [false]
    const ofToken = classes.map((one) => this.#waitOfToken(parties, one, now, retriedAt))
    const waits = [this.#waitOfRecipient(parties, retriedAt), ...ofToken]
    const [longest] = waits.filter((wait) => wait !== undefined).toSorted((a, b) => b.until - a.until)
    if (!longest || longest.until <= now) return undefined
    const reason = `${longest.reason}; tried again at ${wallTime(longest.until, now)}`
    return { kind: 'waiting', code: 'QUARANTINED', reason, retryInMs: Math.ceil(longest.until - now) }
  }

  /** Delays young transfers while other relayers make Portage's calls revert. `ageMs`: time since Portage saw it. */
  waitForOthers(parties: Parties, ageMs: number, now = performance.now()): Waiting | undefined {
    const above = aboveBudget(this.#tokens.get(outrunKey(parties))?.costs, this.#budget, now)
    const retryInMs = Math.ceil(othersFirstMs - ageMs)
    if (!above || retryInMs <= 0) return undefined
    const reason = `other relayers delivered ${parties.token} first, which has cost ${above.sum} wei within an hour: Portage lets them go first`
    return { kind: 'waiting', code: 'OUTRUN', reason, retryInMs }
  }

  #waitOfRecipient(parties: Parties, retriedAt = -Infinity): Wait | undefined {
    const losses = this.#recipients.get(recipientKey(parties))
    if (!losses || losses.last <= retriedAt) return undefined
    const { count, last } = losses
    const reason = `${count} deliveries of ${parties.token} to ${parties.recipient} passed their simulation, but reverted or were refused`
    return { until: last + this.#recipientWaitMs(count), reason }
  }

  /** The wait of a token over its budget. If the chain is over its budget, tokens with losses in the last hour wait. */
  #waitOfToken(parties: Parties, isContract: boolean, now: number, retriedAt = -Infinity): Wait | undefined {
    const losses = this.#tokens.get(tokenKey(parties, isContract))
    if (!losses || losses.last <= retriedAt) return undefined
    const own = aboveBudget(losses.costs, this.#budget, now)
    const chain = aboveBudget(this.#tokens.get(parties.targetChain)?.costs, budgetsPerChain * this.#budget, now)
    const any = chain && aboveBudget(losses.costs, 0n, now)
    if (!own && !any) return undefined
    const until = Math.max(own?.until ?? 0, any ? Math.min(any.until, chain.until) : 0)
    const whose = isContract ? 'to contracts ' : ''
    const [what, sum] = own ? [parties.token, own.sum] : [`all tokens to ${parties.targetChain}`, chain?.sum]
    return {
      until,
      reason: `deliveries of ${what} ${whose}that passed their simulation, but reverted or were refused, have cost ${sum} wei within an hour`,
    }
  }

  #recipientWaitMs(count: number): number {
    return Math.min(longestWaitMs, this.#firstWaitMs * 2 ** Math.min(count - 1, 30))
  }
}

/** `retriedAt`: ms since the epoch. */
export async function quarantineOf(
  { losses, chain }: { readonly losses?: Losses | undefined; readonly chain: Pick<Chain, 'hasCode'> },
  { parties, retriedAt }: { readonly parties: Parties; readonly retriedAt?: number | undefined },
): Promise<Waiting | undefined> {
  if (!losses || losses.changes === 0) return undefined
  const now = present()
  const subject = retriedAt === undefined ? {} : { retriedAt: now.passed - ageOf({ wall: retriedAt, passed: now.passed }, now) }
  const wait = losses.quarantineOf(parties, subject)
  const ofContracts = wait ? undefined : losses.quarantineOf(parties, { ...subject, isContract: true })
  return wait ?? (ofContracts && (await chain.hasCode(parties.recipient)) ? ofContracts : undefined)
}

/**
 * The key contains the token, because a stranger's token that reverts must not hold back the recipient's other tokens.
 */
function recipientKey(parties: Parties): string {
  return `${tokenKey(parties)}/${parties.recipient}`
}

function tokenKey({ targetChain, bridge, token, lossesOf = token }: Parties, isContract = false): string {
  return `${targetChain}/${bridge}/${lossesOf}${isContract ? '/contracts' : ''}`
}

function outrunKey(parties: Parties): string {
  return `${tokenKey(parties)}/outrun`
}

function costOf(batches: readonly BatchLoss[]): bigint {
  return batches.reduce((sum, { paid }) => sum + paid, 0n)
}

/**
 * The last hour's costs if they are above the budget, otherwise undefined. `sum` is in wei. `until`: time when the
 * costs are within the budget again, ms, as `performance.now`.
 */
function aboveBudget(costs: HourlyCosts | undefined, budget: bigint, now: number) {
  const minutes = lastHour(costs, now)
  const sum = minutes.reduce((total, [, paid]) => total + paid, 0n)
  let left = sum
  for (const [minute, paid] of minutes) {
    if (left <= budget) break
    left -= paid
    if (left <= budget) return { until: countsUntil(minute), sum }
  }
  return undefined
}

function lastHour(costs: HourlyCosts | undefined, now: number): (readonly [number, bigint])[] {
  return [...(costs ?? [])].filter(([minute]) => countsUntil(minute) > now).toSorted(([a], [b]) => a - b)
}

function countsUntil(minute: number): number {
  return (minute + 1) * minuteMs + hourMs
}

const wallTime = (at: number, now = performance.now()) => new Date(Date.now() + at - now).toISOString()

type LossReports = ReturnType<typeof createLossReports>

const messages: Readonly<Record<Quarantine['kind'], string>> = {
  recipient: 'a recipient is quarantined',
  token: 'a token is quarantined',
  batch: 'transfers are delivered alone for a while, because a batch with them reverted',
}

export function createLossReports({ logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics }) {
  return {
    lost(chain: ChainName, kind: LossKind, wei: bigint): void {
      metrics.portage_losses_wei_total.inc({ chain, kind }, Number(wei))
    },
    quarantined(transfer: Transfer, txHash: string, { kind, until, reason }: Quarantine): void {
      metrics.portage_quarantines_total.inc({ chain: transfer.targetChain, kind })
      const facts = { transfer: transferId(transfer), txHash, reason, until: wallTime(until) }
      logger.warn(messages[kind], { code: 'QUARANTINED', ...facts })
    },
    uncounted(transfer: Transfer, txHash: string, error: unknown): void {
      logger.warn('a loss is not counted yet, because reads failed', { transfer: transferId(transfer), txHash, ...problemOf(error) })
    },
  }
}
