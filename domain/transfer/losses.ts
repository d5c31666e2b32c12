/** A token's losses count for so long, ms. */
const hourMs = 60 * 60_000
const minuteMs = 60_000
/** Recipients, tokens and transactions that are remembered; beyond it the oldest is forgotten. */
const mostKept = 10_000
/** Longest wait of a recipient, ms. Its losses are forgotten as long after the wait. */
const longestWaitMs = hourMs

/** Whom a delivery pays, and what. `token`: as its bridge names it. */
interface Parties {
  readonly chain: string
  readonly bridge: string
  readonly recipient: string
  readonly token: string
}

/** Until when, ms since the epoch, and why nothing is sent. */
interface Wait {
  readonly until: number
  readonly reason: string
}

interface RecipientLosses {
  readonly count: number
  readonly last: number
}

interface TokenLosses {
  readonly last: number
  /** Minute since the epoch → wei. */
  readonly minutes: ReadonlyMap<number, bigint>
}

/**
 * What deliveries that were simulated well, and reverted in a block, have cost. A recipient of one waits, twice as long after each; a token waits while those
 * of the last hour have cost more than its budget. Bounded, in memory: a process that starts anew has forgotten them.
 */
export class Losses {
  readonly #recipients = new Map<string, RecipientLosses>()
  readonly #tokens = new Map<string, TokenLosses>()
  readonly #transactions = new Map<string, true>()
  readonly #firstWaitMs: number
  readonly #budget: bigint

  /** @param limits `firstWaitMs`: of a recipient; `tokenBudget`: of a token and hour, wei */
  constructor({ firstWaitMs, tokenBudget }: { readonly firstWaitMs: number; readonly tokenBudget: bigint }) {
    this.#firstWaitMs = firstWaitMs
    this.#budget = tokenBudget
  }

  /** Counts a transaction, once. @param loss `paid`: wei; `now`: ms since the epoch */
  add(parties: Parties, { txHash, paid, now }: { readonly txHash: string; readonly paid: bigint; readonly now: number }): void {
    if (this.#transactions.has(txHash)) return
    keep(this.#transactions, txHash, true)
    const recipient = recipientKey(parties)
    const before = this.#recipients.get(recipient)
    const count = before && !this.#isForgotten(before, now) ? before.count : 0
    keep(this.#recipients, recipient, { count: count + 1, last: now })
    const minutes = new Map(this.#minutes(parties, now))
    const minute = Math.floor(now / minuteMs)
    minutes.set(minute, (minutes.get(minute) ?? 0n) + paid)
    keep(this.#tokens, tokenKey(parties), { last: now, minutes })
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
    const last = this.#tokens.get(tokenKey(parties))?.last
    if (last === undefined || last <= retriedAt) return undefined
    const minutes = this.#minutes(parties, now)
    const lost = minutes.reduce((sum, [, paid]) => sum + paid, 0n)
    let left = lost
    for (const [minute, paid] of minutes) {
      if (left <= this.#budget) break
      left -= paid
      if (left > this.#budget) continue
      const reason = `deliveries of ${parties.token} that were simulated well, and reverted, have cost ${lost} wei within an hour`
      return { until: countsUntil(minute), reason }
    }
    return undefined
  }

  /** What a token lost in the last hour, the oldest minute first. */
  #minutes(parties: Parties, now: number): (readonly [number, bigint])[] {
    const minutes = [...(this.#tokens.get(tokenKey(parties))?.minutes ?? [])]
    return minutes.filter(([minute]) => countsUntil(minute) > now).toSorted(([a], [b]) => a - b)
  }

  #recipientWaitMs(count: number): number {
    return Math.min(longestWaitMs, this.#firstWaitMs * 2 ** Math.min(count - 1, 30))
  }

  #isForgotten({ count, last }: RecipientLosses, now: number): boolean {
    return now > last + this.#recipientWaitMs(count) + longestWaitMs
  }
}

function countsUntil(minute: number): number {
  return (minute + 1) * minuteMs + hourMs
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
