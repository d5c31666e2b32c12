import { backoffMs } from '../../domain/backoff.ts'
import { type ErrorCode, type RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { within } from '../../runtime/wait.ts'
import type { BridgeName } from '../../domain/transfer/transfer.ts'
import type { Submitter, SubmitResult } from './submitter.ts'

/** `refused`: no transfer was started, and the message is dropped. */
export type Outcome =
  | { readonly kind: SubmitResult['status']; readonly id: string }
  | { readonly kind: 'refused'; readonly error: RelayerError }

export interface SubmissionsOptions {
  readonly bridge: BridgeName
  readonly submitter: Submitter
  readonly onOutcome: (outcome: Outcome, message: Uint8Array) => void
  readonly onDelay?: (error: RelayerError, message: Uint8Array) => void
  readonly onFull: (full: boolean) => void
  readonly onTrouble: (error: RelayerError | undefined) => void
  readonly concurrency: number
  /** Maximum number of waiting messages, without those with an unknown guardian set. */
  readonly limit: number
  /** Maximum bytes of these messages. Default: 64 MiB. */
  readonly limitBytes?: number
  /** Maximum number of messages with an unknown guardian set. If exceeded, the oldest one is dropped. Default: 200. */
  readonly limitUnknown?: number
  /** Maximum bytes of these messages. If exceeded, the oldest one is dropped. Default: 2 MiB. */
  readonly limitUnknownBytes?: number
  readonly retry: Retry
}

export interface Retry {
  readonly firstMs: number
  readonly mostMs: number
}

interface Entry {
  readonly message: Uint8Array
  /** ms since the epoch. */
  readonly since: number
  /** ms, as `performance.now`. */
  readonly addedAt: number
  tries: number
  isOver?: true
}

/** A message whose guardian set stays unknown this long is refused. The streams fetch a genuine message again. */
const unknownSetForMs = 86_400_000

/**
 * Submits messages, and retries after outages. Anybody can make messages with an unknown guardian set, so few of them
 * are kept.
 */
export class Submissions {
  readonly #options: SubmissionsOptions
  readonly #waiting: Entry[] = []
  readonly #delayed = new Map<Entry, NodeJS.Timeout | undefined>()
  readonly #running = new Set<Promise<void>>()
  readonly #unknown = new Set<Entry>()
  #unknownBytes = 0
  #bytes = 0
  #isFull = false
  #trouble: ErrorCode | undefined
  #closing = false

  constructor(options: SubmissionsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting.length + this.#running.size + this.#delayed.size
  }

  get unknownSets(): number {
    return this.#unknown.size
  }

  add(message: Uint8Array): void {
    this.#bytes += message.length
    this.#enqueue({ message, since: Date.now(), addedAt: performance.now(), tries: 0 })
  }

  /** Submits for at most `graceMs`. Returns the number of messages that are left. */
  async close(graceMs: number): Promise<number> {
    this.#closing = true
    for (const [entry, timer] of this.#delayed) {
      clearTimeout(timer)
      this.#enqueue(entry)
    }
    const idle = async () => {
      while (this.#running.size > 0) await Promise.race(this.#running)
    }
    await within(graceMs, idle(), () => undefined)
    const left = this.size
    this.#waiting.length = 0
    this.#delayed.clear()
    return left
  }

  #enqueue(entry: Entry): void {
    this.#delayed.delete(entry)
    this.#waiting.push(entry)
    this.#pump()
  }

  #pump(): void {
    while (this.#running.size < this.#options.concurrency) {
      const entry = this.#waiting.shift()
      if (!entry) break
      const run = this.#attempt(entry).finally(() => {
        this.#running.delete(run)
        this.#pump()
      })
      this.#running.add(run)
    }
    this.#reportFullness()
  }

  async #attempt(entry: Entry): Promise<void> {
    if (entry.isOver) return
    const { bridge, submitter, retry } = this.#options
    try {
      const { id, status } = await submitter.submit(bridge, entry.message, { repeats: 'skip', seenAt: entry.since })
      this.#reportTrouble(undefined)
      this.#end(entry, { kind: status, id })
    } catch (thrown) {
      const error = toRelayerError(thrown)
      const isUnknown = error.code === 'GUARDIAN_SET_UNKNOWN'
      const isTooOld = isUnknown && performance.now() - entry.addedAt > unknownSetForMs
      if (!error.retriable || isTooOld) return this.#end(entry, { kind: 'refused', error })
      if (entry.isOver) return
      this.#reportTrouble(error)
      this.#options.onDelay?.(error, entry.message)
      const again = () => this.#enqueue(entry)
      this.#delayed.set(entry, this.#closing ? undefined : setTimeout(again, retryWaitMs(entry.tries++, retry)))
      this.#mark(entry, isUnknown)
      this.#dropUnknown(error)
    }
  }

  #dropUnknown(error: RelayerError): void {
    const { limitUnknown = 200, limitUnknownBytes = 2 * 1024 * 1024 } = this.#options
    for (const oldest of this.#unknown) {
      if (this.#unknown.size <= limitUnknown && this.#unknownBytes <= limitUnknownBytes) return
      this.#end(oldest, { kind: 'refused', error })
    }
  }

  #mark(entry: Entry, isUnknown: boolean): void {
    if (this.#unknown.has(entry) === isUnknown) return
    this.#unknown[isUnknown ? 'add' : 'delete'](entry)
    this.#unknownBytes += isUnknown ? entry.message.length : -entry.message.length
  }

  #end(entry: Entry, outcome: Outcome): void {
    if (entry.isOver) return
    entry.isOver = true
    this.#mark(entry, false)
    clearTimeout(this.#delayed.get(entry))
    this.#delayed.delete(entry)
    this.#bytes -= entry.message.length
    this.#options.onOutcome(outcome, entry.message)
  }

  /** A full queue stays full until half of each limit is free. Otherwise, reading would stop at every message. */
  #reportFullness(): void {
    const { limit, limitBytes = 64 * 1024 * 1024, onFull } = this.#options
    const [kept, bytes] = [this.size - this.#unknown.size, this.#bytes - this.#unknownBytes]
    const isChanged = this.#isFull ? kept <= limit / 2 && bytes <= limitBytes / 2 : kept >= limit || bytes >= limitBytes
    if (isChanged) onFull((this.#isFull = !this.#isFull))
  }

  /**
   * Reports when trouble begins, changes or ends. An unknown guardian set is not reported, because it says nothing
   * about other messages.
   */
  #reportTrouble(error: RelayerError | undefined): void {
    if (error?.code === 'GUARDIAN_SET_UNKNOWN' || error?.code === this.#trouble) return
    this.#trouble = error?.code
    this.#options.onTrouble(error)
  }
}

/** Wait before the next try, ms. Random, so that processes do not retry at the same time. */
export function retryWaitMs(tries: number, { firstMs, mostMs }: Retry): number {
  return Math.round((backoffMs(tries, firstMs, mostMs) * (1 + Math.random())) / 2)
}
