import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs } from '../../domain/backoff.ts'
import { type ErrorCode, type RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { SubmitResult } from './submitter.ts'

/** Outcome of one message. refused: it can never become a transfer, or its guardian set was unknown for a day. Retriable failures are no outcome. */
export type Outcome =
  | { readonly kind: SubmitResult['status']; readonly id: string }
  | { readonly kind: 'refused'; readonly error: RelayerError }

export interface SubmissionsOptions {
  /** @param since when the message came, ms since the epoch */
  readonly submit: (message: Uint8Array, since: number) => Promise<SubmitResult>
  readonly onOutcome: (outcome: Outcome, message: Uint8Array) => void
  /** Called when a try of a message has failed and another follows. */
  readonly onDelay?: (error: RelayerError, message: Uint8Array) => void
  /** Called at each change. True: no more messages can be kept. */
  readonly onFull: (full: boolean) => void
  /** Called at each change: the retriable failure, or undefined when submitting works again. */
  readonly onTrouble: (error: RelayerError | undefined) => void
  /** Most messages that are submitted at once. */
  readonly concurrency: number
  /** Most messages that are kept, those of the next guardian set not counted. */
  readonly limit: number
  /** Most bytes of them, those of the next guardian set not counted. Default 64 MiB. */
  readonly limitBytes?: number
  /** Most messages that are kept because the next guardian set is not known yet; the oldest gives way. Default 200. */
  readonly limitUnknown?: number
  /** Most bytes of those; the oldest gives way. Default 2 MiB. */
  readonly limitUnknownBytes?: number
  /** Between two tries of a message. */
  readonly retry: Retry
}

/** First and longest wait, ms. */
export interface Retry {
  readonly firstMs: number
  readonly mostMs: number
}

interface Entry {
  readonly message: Uint8Array
  readonly since: number
  tries: number
  /** Its outcome was told. */
  isOver?: true
}

/** A guardian set that is unknown for a day is junk, or an upgrade that the target chain has missed: the message can be fetched again. */
const unknownSetForMs = 86_400_000

/**
 * Messages that are being submitted. One that fails retriably stays until it passes, and reading stops when the limit is reached. Those of a guardian set that is
 * not known yet, which anybody can make, have a small pool of their own, in which the oldest gives way: streams fetch again what was good.
 */
export class Submissions {
  readonly #options: SubmissionsOptions
  readonly #waiting: Entry[] = []
  readonly #delayed = new Map<Entry, NodeJS.Timeout | undefined>()
  readonly #running = new Set<Promise<void>>()
  readonly #unknown: ReturnType<typeof createUnknownSets>
  readonly #fullness: ReturnType<typeof createFullness>
  readonly #reportTrouble: SubmissionsOptions['onTrouble']
  /** Of all that have no outcome yet. */
  #bytes = 0
  #closing = false

  constructor(options: SubmissionsOptions) {
    this.#options = options
    this.#unknown = createUnknownSets(options)
    this.#fullness = createFullness(options)
    this.#reportTrouble = createTroubleReporter(options.onTrouble)
  }

  /** All that are submitted or wait. */
  get size(): number {
    return this.#waiting.length + this.#running.size + this.#delayed.size
  }

  /** Those of them whose guardian set is not known yet. */
  get unknownSets(): number {
    return this.#unknown.size
  }

  add(message: Uint8Array): void {
    this.#bytes += message.length
    this.#enqueue({ message, since: Date.now(), tries: 0 })
  }

  /** Submits what it can within this time, ms; returns how many messages are left behind. */
  async close(graceMs: number): Promise<number> {
    this.#closing = true
    // Those that wait for their next try have a last one now: the failure may be over.
    for (const [entry, timer] of this.#delayed) {
      clearTimeout(timer)
      this.#enqueue(entry)
    }
    const late = sleep(graceMs, 'late' as const, { ref: false })
    while (this.#running.size > 0 && (await Promise.race([...this.#running, late])) !== 'late');
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
    this.#fullness.update(this.size - this.#unknown.size, this.#bytes - this.#unknown.bytes)
  }

  async #attempt(entry: Entry): Promise<void> {
    if (entry.isOver) return
    const { submit, retry } = this.#options
    try {
      const { id, status } = await submit(entry.message, entry.since)
      this.#reportTrouble(undefined)
      this.#end(entry, { kind: status, id })
    } catch (thrown) {
      const error = toRelayerError(thrown)
      if (!error.retriable || isTooOld(entry, error)) return this.#end(entry, { kind: 'refused', error })
      if (entry.isOver) return
      this.#reportTrouble(error)
      this.#options.onDelay?.(error, entry.message)
      const again = () => this.#enqueue(entry)
      this.#delayed.set(entry, this.#closing ? undefined : setTimeout(again, retryWaitMs(entry.tries++, retry)))
      for (const dropped of this.#unknown.note(entry, error)) this.#end(dropped, { kind: 'refused', error })
    }
  }

  #end(entry: Entry, outcome: Outcome): void {
    if (entry.isOver) return
    entry.isOver = true
    this.#unknown.delete(entry)
    clearTimeout(this.#delayed.get(entry))
    this.#delayed.delete(entry)
    this.#bytes -= entry.message.length
    this.#options.onOutcome(outcome, entry.message)
  }
}

/** Messages whose guardian set is not known yet, the longest known first. */
function createUnknownSets({ limitUnknown = 200, limitUnknownBytes = 2 * 1024 * 1024 }: SubmissionsOptions) {
  const entries = new Set<Entry>()
  let bytes = 0
  const remove = (entry: Entry): void => {
    if (entries.delete(entry)) bytes -= entry.message.length
  }
  const add = (entry: Entry): void => {
    if (entries.has(entry)) return
    entries.add(entry)
    bytes += entry.message.length
  }
  return {
    get size(): number {
      return entries.size
    },
    get bytes(): number {
      return bytes
    },
    delete: remove,
    /** What a try of this entry failed with. The entries that give way to it, if there are too many; they are no longer here. */
    note(entry: Entry, { code }: RelayerError): Entry[] {
      if (code === 'GUARDIAN_SET_UNKNOWN') add(entry)
      else remove(entry)
      const dropped: Entry[] = []
      for (const oldest of entries) {
        if (entries.size <= limitUnknown && bytes <= limitUnknownBytes) break
        remove(oldest)
        dropped.push(oldest)
      }
      return dropped
    },
  }
}

/** Calls `onFull` when the number or the bytes of what is kept come to their limit, and when both are at half of it: a full queue does not flutter. */
function createFullness({ limit, limitBytes = 64 * 1024 * 1024, onFull }: Pick<SubmissionsOptions, 'limit' | 'limitBytes' | 'onFull'>) {
  let full = false
  return {
    update(kept: number, bytes: number): void {
      const changes = full ? kept <= limit / 2 && bytes <= limitBytes / 2 : kept >= limit || bytes >= limitBytes
      if (changes) onFull((full = !full))
    },
  }
}

/** The wait before another try, ms: it doubles with each, and no two processes try in step. */
export function retryWaitMs(tries: number, { firstMs, mostMs }: Retry): number {
  return Math.round((backoffMs(tries, firstMs, mostMs) * (1 + Math.random())) / 2)
}

/** Calls `onTrouble` when the code of the failures changes, and with undefined when they end. */
function createTroubleReporter(onTrouble: SubmissionsOptions['onTrouble']): SubmissionsOptions['onTrouble'] {
  let trouble: ErrorCode | undefined
  return (error) => {
    // A message of an unknown guardian set says nothing about the others.
    if (error?.code === 'GUARDIAN_SET_UNKNOWN' || error?.code === trouble) return
    trouble = error?.code
    onTrouble(error)
  }
}

function isTooOld(entry: Entry, error: RelayerError): boolean {
  return error.code === 'GUARDIAN_SET_UNKNOWN' && Date.now() - entry.since > unknownSetForMs
}
