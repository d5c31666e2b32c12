import { aboveBudget, type HourlyCosts, withCost } from './hourly-costs.ts'

/** Recipients, tokens and transactions that are remembered; beyond it the oldest is forgotten. */
const mostKept = 10_000
/** Batches that reverted, and are remembered. */
const mostBatches = 1_000
/** Longest wait of a recipient, ms. Its losses are forgotten as long after the wait. */
const longestWaitMs = 60 * 60_000
/** A batch that reverted counts for so long, ms: meanwhile its recipients' transfers go alone, which shows who is to blame. */
const batchMs = 60 * 60_000

/** Whom a delivery pays, and what. `token`: as its bridge names it. */
interface Parties {
  readonly chain: string
  readonly bridge: string
  readonly recipient: string
  readonly token: string
}

/** A transaction that was simulated well and reverted. `paid`: wei; `now`: ms since the epoch. */
interface Loss {
  readonly txHash: string
  readonly paid: bigint
  readonly now: number
}

/** Until when, ms since the epoch, and why nothing is sent. */
interface Wait {
  readonly until: number
  readonly reason: string
}

/** What a loss brought about. `batch`: calls are not shared until then. */
export type Aside = Wait & { readonly kind: 'recipient' | 'token' | 'batch' }

interface RecipientLosses {
  readonly count: number
  readonly last: number
}

interface TokenLosses {
  readonly last: number
  readonly costs: HourlyCosts
}

interface BatchLoss {
  readonly token: string
  readonly at: number
  readonly paid: bigint
  readonly recipients: Set<string>
}

/**
 * What deliveries that were simulated well, and reverted in a block, have cost. A recipient of one waits, twice as long after each; a token waits while those
 * of the last hour have cost more than its budget. A batch has many recipients, of whom one may have made it revert: nobody waits, but they go alone, and
 * all of a token do while its batches have cost more than the budget, unless another relayer came first. Bounded, in memory: a process that starts anew has forgotten them.
 */
export class Losses {
  readonly #recipients = new Map<string, RecipientLosses>()
  readonly #tokens = new Map<string, TokenLosses>()
  /** By transaction; undefined: another relayer had delivered one of its transfers. */
  readonly #batches = new Map<string, BatchLoss | undefined>()
  readonly #transactions = new Map<string, true>()
  readonly #firstWaitMs: number
  readonly #budget: bigint

  /** @param limits `firstWaitMs`: of a recipient; `tokenBudget`: of a token and hour, wei, for batches once more */
  constructor({ firstWaitMs, tokenBudget }: { readonly firstWaitMs: number; readonly tokenBudget: bigint }) {
    this.#firstWaitMs = firstWaitMs
    this.#budget = tokenBudget
  }

  /** Counts a transaction of one transfer, once. Returns who waits from now on and did not before. */
  add(parties: Parties, { txHash, paid, now }: Loss): readonly Aside[] {
    if (this.#transactions.has(txHash)) return []
    keep(this.#transactions, txHash, true)
    const [recipient, token] = [recipientKey(parties), tokenKey(parties)]
    const before = this.#recipients.get(recipient)
    const count = before && !this.#isForgotten(before, now) ? before.count : 0
    keep(this.#recipients, recipient, { count: count + 1, last: now })
    const costs = this.#tokens.get(token)?.costs
    const waited = aboveBudget(costs, this.#budget, now)
    keep(this.#tokens, token, { last: now, costs: withCost(costs, paid, now) })
    const found: Aside[] = []
    const ofRecipient = this.#waitOfRecipient(parties, -Infinity)
    if (ofRecipient && ofRecipient.until > now) found.push({ kind: 'recipient', ...ofRecipient })
    const ofToken = waited ? undefined : this.#waitOfToken(parties, now, -Infinity)
    if (ofToken) found.push({ kind: 'token', ...ofToken })
    return found
  }

  /** Counts a batch, once, for one of its transfers that it did not deliver. Returns what that brought about. */
  addBatch(parties: Parties, { txHash, paid, now }: Loss): readonly Aside[] {
    const recipient = recipientKey(parties)
    if (this.#batches.has(txHash)) {
      this.#batches.get(txHash)?.recipients.add(recipient)
      return []
    }
    keep(this.#batches, txHash, { token: tokenKey(parties), at: now, paid, recipients: new Set([recipient]) }, mostBatches)
    const until = now + batchMs
    const cost = costOf(this.#lateBatches(parties, now))
    const reason =
      cost > this.#budget
        ? `batches of ${parties.token} that were simulated well, and reverted, have cost ${cost} wei within an hour: all go alone`
        : `a batch was simulated well, reverted, and cost ${paid} wei: its transfers go alone`
    return [{ kind: 'batch', until, reason }]
  }

  /** Another relayer had delivered one of its transfers, which explains that the batch reverted: it does not count. */
  explainBatch(txHash: string): void {
    keep(this.#batches, txHash, undefined, mostBatches)
  }

  /** Its delivery shares no call with others. @param now ms since the epoch */
  goesAlone(parties: Parties, now: number): boolean {
    const batches = this.#lateBatches(parties, now)
    const recipient = recipientKey(parties)
    return batches.some(({ recipients }) => recipients.has(recipient)) || costOf(batches) > this.#budget
  }

  /** Those of the token that count. */
  #lateBatches(parties: Parties, now: number): readonly BatchLoss[] {
    const token = tokenKey(parties)
    return [...this.#batches.values()]
      .filter((batch) => batch !== undefined)
      .filter((batch) => batch.token === token && now < batch.at + batchMs)
  }

  /** Why a delivery waits now; undefined: it may be sent. @param retriedAt when an operator ordered to try it again: that is not held up by earlier losses */
  waitOf(parties: Parties, now: number, retriedAt = -Infinity): Wait | undefined {
    const waits = [this.#waitOfRecipient(parties, retriedAt), this.#waitOfToken(parties, now, retriedAt)]
    return waits
      .filter((wait) => wait !== undefined && wait.until > now)
      .toSorted((a, b) => (b?.until ?? 0) - (a?.until ?? 0))
      .at(0)
  }

  #waitOfRecipient(parties: Parties, retriedAt: number): Wait | undefined {
    const losses = this.#recipients.get(recipientKey(parties))
    if (!losses || losses.last <= retriedAt) return undefined
    const { count, last } = losses
    const reason = `${count} deliveries to ${parties.recipient} were simulated well, and reverted`
    return { until: last + this.#recipientWaitMs(count), reason }
  }

  #waitOfToken(parties: Parties, now: number, retriedAt: number): Wait | undefined {
    const losses = this.#tokens.get(tokenKey(parties))
    if (!losses || losses.last <= retriedAt) return undefined
    const above = aboveBudget(losses.costs, this.#budget, now)
    const reason = `deliveries of ${parties.token} that were simulated well, and reverted, have cost ${above?.sum} wei within an hour`
    return above && { until: above.until, reason }
  }

  #recipientWaitMs(count: number): number {
    return Math.min(longestWaitMs, this.#firstWaitMs * 2 ** Math.min(count - 1, 30))
  }

  #isForgotten({ count, last }: RecipientLosses, now: number): boolean {
    return now > last + this.#recipientWaitMs(count) + longestWaitMs
  }
}

function recipientKey({ chain, recipient }: Parties): string {
  return `${chain}/${recipient}`
}

function tokenKey({ chain, bridge, token }: Parties): string {
  return `${chain}/${bridge}/${token}`
}

function costOf(batches: readonly BatchLoss[]): bigint {
  return batches.reduce((sum, { paid }) => sum + paid, 0n)
}

/** Keeps it as the newest. */
function keep<T>(kept: Map<string, T>, key: string, value: T, most = mostKept): void {
  kept.delete(key)
  kept.set(key, value)
  const [oldest] = kept.keys()
  if (kept.size > most && oldest !== undefined) kept.delete(oldest)
}
