import { afterAttempt, type AttemptSchedule, dueUnsent, hasRoom, type SendAnswer } from '../../domain/notification/attempts.ts'
import type { Notification } from '../../domain/notification/notification.ts'
import { type NotifierState, waitingCount, withConditions } from '../../domain/notification/notifier.ts'
import { failpoint } from '../../observability/failpoints.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { redactUrl } from '../../observability/redact.ts'
import { problemOf } from '../../observability/severity.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { listNotified, type NotifiedPeriod, type NotifiedTransfer, wantedEnds } from '../../temporal/client/settings/notified-transfers.ts'
import { countNotifierOrders } from '../../temporal/client/settings/notifiers.ts'
import type { ConditionReader } from './condition-reader.ts'
import type { Receiver } from '../../domain/notification/receiver.ts'
import { conditionNotification, transferNotification } from './events.ts'
import { sendNotification } from './send.ts'
import { afterLook, type ToldRuns } from './told-runs.ts'
import { proofsOf, provedAtMost } from './written-runs.ts'
import { setTimeout as delay } from 'node:timers/promises'

/** How often is looked, and for how long, ms. */
export interface NotifyTimes {
  /** Between two looks at what closed. */
  readonly lookMs: number
  /** Between two looks at what holds. */
  readonly conditionsMs: number
  /** Between two looks that go back as far as the list may show runs late. */
  readonly settleLookMs: number
  /** The list shows a run so long after its end at the latest. */
  readonly settleMs: number
  /** Then the step ends, so that its state is recorded. */
  readonly roundMs: number
  /** Absent: as the specification says. */
  readonly schedule?: AttemptSchedule
}

export const notifyTimes: NotifyTimes = {
  lookMs: 5_000,
  conditionsMs: 15_000,
  settleLookMs: 60_000,
  settleMs: 5 * 60_000,
  roundMs: 60_000,
}

export interface NotifyRoundDeps {
  readonly client: TemporalClient
  readonly conditions: ConditionReader
  readonly metrics: Pick<Metrics, 'portage_notifications_sent_total' | 'portage_notifications_failed_total'>
  readonly logger: Logger
  readonly times: NotifyTimes
  /** Payloads in Temporal that are not encrypted are refused (`temporal.encryption.required`). */
  readonly isSealed: boolean
}

/** A look between two full ones goes back so far, ms: most runs are shown within a second. */
const nearMs = 10_000
/** Tries at a time. */
const atOnce = 4
/** A receiver that does not answer is tried with what is new until so many wait; then with one of those. */
const mostProbes = 20
/** A replay is read in parts of so long, ms: after a crash it goes on with the part. */
const replayMs = 3_600_000

/** Reads and tells for one receiver, until something has to be recorded by its notifier. */
export class NotifyRound {
  state: NotifierState
  readonly #deps: NotifyRoundDeps
  readonly #receiver: Receiver
  readonly #told: ToldRuns
  readonly #signal: AbortSignal
  /** A try of this round has failed for the receiver itself, or it wants no more. */
  #isOver = false
  #attempts = 0
  /** It began with notifications that the receiver had not taken. */
  readonly #owed: boolean
  /** Then the round ends, ms since the epoch. */
  #until = Infinity
  #settledAt = 0
  #conditionsAt = 0
  /** Ids that the receiver took, of those that are told together now. */
  readonly #taken = new Set<string>()

  /** @param told what this process knows of the receiver @param signal ends the round after what is on its way */
  constructor(
    deps: NotifyRoundDeps,
    receiver: Receiver,
    start: { readonly state: NotifierState; readonly told: ToldRuns; readonly signal: AbortSignal },
  ) {
    this.#deps = deps
    this.#receiver = receiver
    this.state = start.state
    this.#owed = owes(start.state)
    this.#told = start.told
    this.#signal = start.signal
    this.#told.follow(this.state.cursor)
  }

  /** Ends with the state that is to be recorded. Never throws: what Temporal does not answer now is read at a later look. */
  async run(): Promise<void> {
    const { times, logger } = this.#deps
    this.#until = Date.now() + times.roundMs
    let isTold = false
    while (!this.#isEnding && Date.now() < this.#until) {
      try {
        if (await this.#look()) return
      } catch (error) {
        if (!isTold) logger.warn('what is to be told cannot be read; trying again', { ...this.#about(), ...problemOf(error) })
        isTold = true
      }
      if (!this.#isEnding) await delay(times.lookMs, undefined, { signal: this.#signal }).catch(() => {})
    }
  }

  /** True: something is to be recorded by the notifier, or it has an order. */
  async #look(): Promise<boolean> {
    const { client, times } = this.#deps
    const now = Date.now()
    if (this.state.failure && this.state.unsent.length >= mostProbes) await this.#probe()
    const { tests } = this.state
    await this.#tellAll(this.state.pending)
    const isFull = now - this.#settledAt >= times.settleLookMs
    await this.#lookAtTransfers(isFull)
    if (isFull) this.#settledAt = now
    if (this.#attempts === 0) await this.#probe()
    await this.#tellAll(dueUnsent(this.state, now).map(({ notification }) => notification))
    await this.#replay()
    // Who ordered a test waits for its result, and whoever looks for the end of an outage.
    if (this.#isEnding || this.state.tests !== tests || (this.#owed && !owes(this.state))) return true
    if (now - this.#conditionsAt >= times.conditionsMs && hasRoom(this.state)) {
      this.#conditionsAt = now
      if (await this.#lookAtConditions()) return true
    }
    return (await countNotifierOrders(client, this.#receiver.name)) > 0
  }

  get #isEnding(): boolean {
    return this.#isOver || this.#signal.aborted
  }

  /** While the receiver does not answer, one at a time. */
  async #tellAll(notifications: readonly Notification[]): Promise<void> {
    const queue = [...notifications]
    const tellNext = async () => {
      for (let next = queue.shift(); next && !this.#isEnding; next = queue.shift()) await this.#tell(next)
    }
    await Promise.all(Array.from({ length: this.state.failure ? 1 : atOnce }, tellNext))
  }

  async #tell(notification: Notification): Promise<void> {
    const { metrics, isSealed } = this.#deps
    const { name: receiver } = this.#receiver
    this.#attempts += 1
    const answer = await sendNotification(this.#receiver, provedAtMost(notification, isSealed), { signal: this.#signal })
    // What was cut off by the end of this process was no try.
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

  /** An outage of the receiver is one line, however many tries it takes; refusals are counted, whatever is refused. */
  #log(before: NotifierState, { id, type }: Notification, answer: Exclude<SendAnswer, { kind: 'taken' }>): void {
    const { logger } = this.#deps
    const facts = { ...this.#about(), reason: answer.why, type, waiting: waitingCount(this.state, 0) }
    const isGivenUp = this.state.counts.givenUp > before.counts.givenUp
    if (answer.kind === 'gone')
      logger.error('a receiver of notifications wants no more: it is disabled', { code: 'RECEIVER_GONE', ...facts })
    else if (isGivenUp)
      logger.error('a notification was refused at every try, and is given up', { code: 'NOTIFICATION_GIVEN_UP', id, ...facts })
    else if (answer.kind === 'refused')
      logger.warn('a receiver refuses a notification; it is tried again', { code: 'RECEIVER_REFUSES', notification: id, ...facts })
    else if (!before.failure)
      logger.warn('a receiver of notifications does not answer; it is tried again', { code: 'RECEIVER_FAILING', ...facts })
  }

  #about() {
    return { receiver: this.#receiver.name, host: redactUrl(this.#receiver.url) }
  }

  /** Tells what closed since, and moves the cursor when all of it is told or kept. What there is no room for stays in Temporal. */
  async #lookAtTransfers(isFull: boolean): Promise<void> {
    const { cursor } = this.state
    const from = isFull ? cursor.from : Math.max(cursor.from, cursor.seen - nearMs)
    const seen = await this.#tellPeriod({ from }, true)
    if (seen === undefined) return
    const next = isFull ? afterLook(cursor, seen, Date.now(), this.#deps.times.settleMs) : { ...cursor, seen: Math.max(cursor.seen, seen) }
    this.#told.follow(next)
    this.state = { ...this.state, cursor: { ...next, told: this.#told.carried() } }
  }

  /** The latest end that was shown; undefined: not all of it could be told or kept. @param onlyNew leaves out what was told already */
  async #tellPeriod(period: Pick<NotifiedPeriod, 'from' | 'to'>, onlyNew: boolean): Promise<number | undefined> {
    let seen = 0
    let found: { run: string; row: NotifiedTransfer }[] = []
    const flush = async (): Promise<boolean> => {
      const batch = await this.#written(found)
      found = []
      this.#taken.clear()
      await this.#tellAll(batch.map(({ notification }) => notification))
      const isKept = (id: string) => this.#taken.has(id) || this.state.unsent.some((one) => one.notification.id === id)
      for (const { run, row, notification } of batch) if (isKept(notification.id)) this.#told.add(run, row.closedAt)
      return !this.#isEnding && batch.every(({ notification }) => isKept(notification.id))
    }
    for await (const row of this.#listed(period)) {
      seen = Math.max(seen, row.closedAt)
      const run = `${row.kind === 'reversed' ? 'r' : ''}${row.runId}`
      if (onlyNew && this.#told.has(run)) continue
      if (!hasRoom(this.state)) return undefined
      found.push({ run, row })
      if (found.length >= (this.state.failure ? 1 : 50) && !(await flush())) return undefined
    }
    return (await flush()) ? seen : undefined
  }

  /** What is told of those that Portage has written. One that it has not is told to nobody, and is not looked at again. */
  async #written(found: readonly { readonly run: string; readonly row: NotifiedTransfer }[]) {
    const { client, isSealed, logger } = this.#deps
    const proofs = await proofsOf(
      client,
      found.map(({ row }) => row),
      isSealed,
    )
    return found.flatMap(({ run, row }, index) => {
      const proof = proofs[index]
      if (proof) return [{ run, row, notification: transferNotification(row, proof) }]
      this.#told.add(run, row.closedAt)
      const { kind, id: transfer, runId } = row
      logger.warn('a run that Portage has not written claims to be a delivery, or a reversal: it is told to nobody', {
        code: 'RUN_FOREIGN',
        kind,
        transfer,
        runId,
      })
      return []
    })
  }

  /** Tries one that waits, to see whether the receiver answers again. */
  async #probe(): Promise<void> {
    const [least] = this.state.unsent.toSorted((a, b) => a.tries - b.tries)
    if (this.state.failure && least && !this.#isEnding) await this.#tell(least.notification)
  }

  /** True: something begins to hold, and is recorded before it is told. */
  async #lookAtConditions(): Promise<boolean> {
    const sources = await this.#deps.conditions.read(this.#receiver.filter, this.state.holding)
    const before = this.state.pending.length
    this.state = withConditions(this.state, sources, Date.now(), conditionNotification)
    return this.state.pending.length > before
  }

  /** One part at each look, and more while the round lasts: what happens meanwhile is told, too. Years without anything are passed over in few questions. */
  async #replay(): Promise<void> {
    let partMs = replayMs
    do {
      if (!this.state.replay || this.#isEnding) return
      const { from, to } = this.state.replay
      const period = { from, to: Math.min(from + partMs, to) }
      // A part that is told is a short one: it is told anew where it is broken off.
      if (partMs > replayMs && !(await this.#isEmpty(period))) {
        partMs = Math.max(replayMs, partMs / 2)
        continue
      }
      const seen = await this.#tellPeriod(period, false)
      if (seen === undefined) return
      partMs = seen === 0 ? 2 * partMs : replayMs
      this.state = { ...this.state, replay: period.to < to ? { from: period.to, to } : undefined }
    } while (Date.now() < this.#until)
  }

  async #isEmpty(period: Pick<NotifiedPeriod, 'from' | 'to'>): Promise<boolean> {
    const first = await this.#listed(period).next()
    return first.done === true
  }

  #listed(period: Pick<NotifiedPeriod, 'from' | 'to'>) {
    const { filter } = this.#receiver
    return listNotified(this.#deps.client, filter, { ...wantedEnds(filter), ...period })
  }
}

function owes({ unsent, failure }: NotifierState): boolean {
  return unsent.length > 0 || failure !== undefined
}
