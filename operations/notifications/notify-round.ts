import { afterAttempt, type AttemptSchedule, dueUnsent, hasRoom, type SendAnswer } from '../../domain/notification/attempts.ts'
import type { Notification, Receiver } from '../../domain/notification/notification.ts'
import { type NotifierState, waitingCount, withConditions } from '../../domain/notification/notifier.ts'
import { failpoint } from '../../observability/failpoints.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { redactUrl } from '../../observability/redact.ts'
import { problemOf } from '../../observability/severity.ts'
import { pause } from '../../runtime/wait.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { listNotified, type NotifiedPeriod, type NotifiedTransfer } from '../../temporal/client/settings/notified-transfers.ts'
import { countNotifierOrders } from '../../temporal/client/settings/notifiers.ts'
import type { ConditionReader } from './condition-reader.ts'
import { conditionNotification, proofsOf, transferNotification, withProvable } from './events.ts'
import { sendNotification } from './send.ts'
import { cursorAfter, type NotifiedRuns } from './notified-runs.ts'

export const notifyTimes = {
  readMs: 5_000,
  conditionsMs: 15_000,
  fullReadMs: 60_000,
  settleMs: 5 * 60_000,
  roundMs: 60_000,
}

export type NotifyTimes = Readonly<typeof notifyTimes> & { readonly schedule?: AttemptSchedule }

export interface NotifyRoundDeps {
  readonly client: TemporalClient
  readonly conditions: ConditionReader
  readonly metrics: Pick<Metrics, 'portage_notifications_sent_total' | 'portage_notifications_failed_total'>
  readonly logger: Logger
  readonly times: NotifyTimes
  readonly requiresEncryption: boolean
}

const shortReadMs = 10_000
const atOnce = 4
const batchSize = 50
const probeFrom = 20
const replayMs = 3_600_000

export class NotifyRound {
  state: NotifierState
  readonly #deps: NotifyRoundDeps
  readonly #receiver: Receiver
  readonly #notified: NotifiedRuns
  readonly #signal: AbortSignal
  #isOver = false
  #attempts = 0
  readonly #owed: boolean
  #until = Infinity
  #fullReadAt = -Infinity
  #conditionsAt = -Infinity
  readonly #taken = new Set<string>()

  constructor(
    deps: NotifyRoundDeps,
    receiver: Receiver,
    start: { readonly state: NotifierState; readonly notified: NotifiedRuns; readonly signal: AbortSignal },
  ) {
    this.#deps = deps
    this.#receiver = receiver
    this.state = start.state
    this.#owed = owes(start.state)
    this.#notified = start.notified
    this.#signal = start.signal
    this.#notified.follow(this.state.cursor)
  }

  /** Ends when the notifier must record `state`. Never throws. */
  async run(): Promise<void> {
    const { times, logger } = this.#deps
    this.#until = performance.now() + times.roundMs
    let isLogged = false
    while (!this.#isEnding && performance.now() < this.#until) {
      try {
        if (await this.#pass()) return
      } catch (error) {
        if (!isLogged) logger.warn('events for a receiver cannot be read; trying again', { ...this.#about(), ...problemOf(error) })
        isLogged = true
      }
      if (!this.#isEnding) await pause(times.readMs, this.#signal)
    }
  }

  async #pass(): Promise<boolean> {
    const { client, times } = this.#deps
    const now = performance.now()
    if (this.state.unsent.length >= probeFrom) await this.#probe()
    const { tests } = this.state
    await this.#notifyAll(this.state.pending)
    const isFull = now - this.#fullReadAt >= times.fullReadMs
    await this.#readTransfers(isFull)
    if (isFull) this.#fullReadAt = now
    if (this.#attempts === 0) await this.#probe()
    await this.#notifyAll(dueUnsent(this.state, Date.now()).map(({ notification }) => notification))
    await this.#replay()
    if (this.#isEnding || this.state.tests !== tests || (this.#owed && !owes(this.state))) return true
    if (now - this.#conditionsAt >= times.conditionsMs && hasRoom(this.state)) {
      this.#conditionsAt = now
      if (await this.#readConditions()) return true
    }
    return (await countNotifierOrders(client, this.#receiver.name)) > 0
  }

  get #isEnding(): boolean {
    return this.#isOver || this.#signal.aborted
  }

  async #notifyAll(notifications: readonly Notification[]): Promise<void> {
    const queue = [...notifications]
    const sendNext = async () => {
      for (let next = queue.shift(); next && !this.#isEnding; next = queue.shift()) await this.#notify(next)
    }
    await Promise.all(Array.from({ length: this.state.failure ? 1 : atOnce }, sendNext))
  }

  async #notify(notification: Notification): Promise<void> {
    const { metrics, requiresEncryption } = this.#deps
    const { name: receiver } = this.#receiver
    this.#attempts += 1
    const answer = await sendNotification(this.#receiver, withProvable(notification, requiresEncryption), { signal: this.#signal })
    if (this.#signal.aborted && answer.kind === 'failed') return
    if (answer.kind === 'taken') failpoint('notified')
    const before = this.state
    this.state = afterAttempt(before, notification, answer, { now: Date.now(), jitter: Math.random(), schedule: this.#deps.times.schedule })
    const { type, id } = notification
    if (answer.kind === 'taken') {
      this.#taken.add(id)
      return metrics.portage_notifications_sent_total.inc({ receiver, type })
    }
    metrics.portage_notifications_failed_total.inc({ receiver, kind: answer.kind })
    if (answer.kind !== 'refused') this.#isOver = true
    this.#log(before, notification, answer)
  }

  #log(before: NotifierState, { id, type }: Notification, answer: Exclude<SendAnswer, { kind: 'taken' }>): void {
    const { logger } = this.#deps
    const facts = { ...this.#about(), reason: answer.why, type, waiting: waitingCount(this.state, 0) }
    const isGivenUp = this.state.counts.givenUp > before.counts.givenUp
    if (answer.kind === 'gone') logger.error('a receiver wants no more notifications, and is disabled', { code: 'RECEIVER_GONE', ...facts })
    else if (isGivenUp)
      logger.error('a notification was refused at every try, and is dropped', { code: 'NOTIFICATION_GIVEN_UP', id, ...facts })
    else if (answer.kind === 'refused')
      logger.warn('a receiver refuses a notification; it is tried again', { code: 'RECEIVER_REFUSES', notification: id, ...facts })
    else if (!before.failure)
      logger.warn('a receiver of notifications does not answer; it is tried again', { code: 'RECEIVER_FAILING', ...facts })
  }

  #about() {
    return { receiver: this.#receiver.name, host: redactUrl(this.#receiver.url) }
  }

  /** Later reads begin at the cursor, so each notification before it must be sent or in `unsent`. */
  async #readTransfers(isFull: boolean): Promise<void> {
    const { cursor } = this.state
    const from = isFull ? cursor.from : Math.max(cursor.from, cursor.seen - shortReadMs)
    const seen = await this.#notifyPeriod({ from }, true)
    if (seen === undefined) return
    const next = isFull
      ? cursorAfter(cursor, seen, Date.now(), this.#deps.times.settleMs)
      : { ...cursor, seen: Math.max(cursor.seen, seen) }
    this.#notified.follow(next)
    this.state = { ...this.state, cursor: { ...next, notified: this.#notified.carried() } }
  }

  /**
   * Returns the latest closing time, or 0 for a period without runs. Undefined: a notification was neither sent nor put
   * in `unsent`.
   */
  async #notifyPeriod(period: NotifiedPeriod, onlyNew: boolean): Promise<number | undefined> {
    let seen = 0
    let found: { run: string; row: NotifiedTransfer }[] = []
    const flush = async (): Promise<boolean> => {
      const batch = await this.#proved(found)
      found = []
      this.#taken.clear()
      await this.#notifyAll(batch.map(({ notification }) => notification))
      const isKept = (id: string) => this.#taken.has(id) || this.state.unsent.some((one) => one.notification.id === id)
      for (const { run, row, notification } of batch) if (isKept(notification.id)) this.#notified.add(run, row.closedAt)
      return !this.#isEnding && batch.every(({ notification }) => isKept(notification.id))
    }
    for await (const row of this.#listed(period)) {
      seen = Math.max(seen, row.closedAt)
      const run = `${row.kind === 'reversed' ? 'r' : ''}${row.runId}`
      if (onlyNew && this.#notified.has(run)) continue
      if (!hasRoom(this.state)) return undefined
      found.push({ run, row })
      if (found.length >= (this.state.failure ? 1 : batchSize) && !(await flush())) return undefined
    }
    return (await flush()) ? seen : undefined
  }

  async #proved(found: readonly { readonly run: string; readonly row: NotifiedTransfer }[]) {
    const { client, requiresEncryption, logger } = this.#deps
    const rows = found.map(({ row }) => row)
    const proofs = await proofsOf(client, rows, requiresEncryption)
    return found.flatMap(({ run, row }, index) => {
      const proof = proofs[index]
      if (proof) return [{ run, row, notification: transferNotification(row, proof) }]
      this.#notified.add(run, row.closedAt)
      const { kind, id: transfer, runId } = row
      const facts = { code: 'RUN_FOREIGN', kind, transfer, runId } as const
      logger.warn('a run that Portage did not write claims to be a delivery or a reversal; no receiver is notified of it', facts)
      return []
    })
  }

  /** Sends one notification to a failing receiver, to find out whether it answers again. */
  async #probe(): Promise<void> {
    const [least] = this.state.unsent.toSorted((a, b) => a.tries - b.tries)
    if (this.state.failure && least && !this.#isEnding) await this.#notify(least.notification)
  }

  async #readConditions(): Promise<boolean> {
    const sources = await this.#deps.conditions.read(this.#receiver.filter, this.state.holding)
    const before = this.state.pending.length
    this.state = withConditions(this.state, sources, Date.now(), conditionNotification)
    return this.state.pending.length > before
  }

  /** New events wait until the replay or the round ends. Empty periods make the next period longer. */
  async #replay(): Promise<void> {
    let partMs = replayMs
    do {
      if (!this.state.replay || this.#isEnding) return
      const { from, to } = this.state.replay
      const period = { from, to: Math.min(from + partMs, to) }
      // An interrupted period is sent again as a whole, so a period that contains runs stays short.
      if (partMs > replayMs && !(await this.#isEmpty(period))) {
        partMs = Math.max(replayMs, partMs / 2)
        continue
      }
      const seen = await this.#notifyPeriod(period, false)
      if (seen === undefined) return
      partMs = seen === 0 ? 2 * partMs : replayMs
      this.state = { ...this.state, replay: period.to < to ? { from: period.to, to } : undefined }
    } while (performance.now() < this.#until)
  }

  async #isEmpty(period: NotifiedPeriod): Promise<boolean> {
    const first = await this.#listed(period).next()
    return first.done === true
  }

  #listed(period: NotifiedPeriod) {
    return listNotified(this.#deps.client, this.#receiver.filter, period)
  }
}

function owes({ unsent, failure }: NotifierState): boolean {
  return unsent.length > 0 || failure !== undefined
}
