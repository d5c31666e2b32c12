import { aboveBudget, type HourlyCosts, withCost } from './hourly-costs.ts'

/** Recipients, tokens and transactions that are remembered; beyond it the oldest is forgotten. */
const mostKept = 10_000
/** Longest wait of a recipient, ms. Its losses are forgotten as long after the wait. */
const longestWaitMs = 60 * 60_000
/** A transfer to a recipient of a batch that reverted goes alone for so long after it, ms: a call of its own shows whether that is to blame. */
const aloneMs = 60 * 60_000

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

/**
 * What deliveries that were simulated well, and reverted in a block, have cost. A recipient of one waits, twice as long after each; a token waits while those
 * of the last hour have cost more than its budget. A batch has many recipients, of whom one may have made it revert: nobody waits, but they go alone, and
 * all of a token do while its batches have cost more than the budget. Bounded, in memory: a process that starts anew has forgotten them.
 */
export class Losses {
  readonly #recipients = new Map<string, RecipientLosses>()
  readonly #tokens = new Map<string, TokenLosses>()
  /** Until when recipients of batches that reverted go alone. */
  readonly #alone = new Map<string, number>()
  readonly #batches = new Map<string, HourlyCosts>()
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
    if (!this.#isNew(txHash)) return []
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
    const until = now + aloneMs
    keep(this.#alone, recipientKey(parties), until)
    if (!this.#isNew(txHash)) return []
    const token = tokenKey(parties)
    keep(this.#batches, token, withCost(this.#batches.get(token), paid, now))
    const above = aboveBudget(this.#batches.get(token), this.#budget, now)
    if (!above)
      return [{ kind: 'batch', until, reason: `a batch was simulated well, reverted, and cost ${paid} wei: its transfers go alone` }]
    const reason = `batches of ${parties.token} that were simulated well, and reverted, have cost ${above.sum} wei within an hour: all go alone`
    return [{ kind: 'batch', until: above.until, reason }]
  }

  /** Its delivery shares no call with others. @param now ms since the epoch */
  goesAlone(parties: Parties, now: number): boolean {
    if ((this.#alone.get(recipientKey(parties)) ?? 0) > now) return true
    return aboveBudget(this.#batches.get(tokenKey(parties)), this.#budget, now) !== undefined
  }

  /** Why a delivery waits now; undefined: it may be sent. @param retriedAt when an operator ordered to try it again: that is not held up by earlier losses */
  waitOf(parties: Parties, now: number, retriedAt = -Infinity): Wait | undefined {
    const waits = [this.#waitOfRecipient(parties, retriedAt), this.#waitOfToken(parties, now, retriedAt)]
    return waits
      .filter((wait) => wait !== undefined && wait.until > now)
      .toSorted((a, b) => (b?.until ?? 0) - (a?.until ?? 0))
      .at(0)
  }

  #isNew(txHash: string): boolean {
    if (this.#transactions.has(txHash)) return false
    keep(this.#transactions, txHash, true)
    return true
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

/** Keeps it as the newest. */
function keep<T>(kept: Map<string, T>, key: string, value: T): void {
  kept.delete(key)
  kept.set(key, value)
  const [oldest] = kept.keys()
  if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
}
