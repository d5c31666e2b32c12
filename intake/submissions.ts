import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs } from '../domain/backoff.ts'
import { type ErrorCode, type RelayerError, toRelayerError } from '../domain/errors.ts'
import type { SubmitResult } from './submitter.ts'

/** Outcome of one message. refused: it can never become a transfer, or its guardian set was unknown for a day. Retriable failures are no outcome. */
export type Outcome =
  | { readonly kind: SubmitResult['status']; readonly id: string }
  | { readonly kind: 'refused'; readonly error: RelayerError }

export interface SubmissionsOptions {
  readonly submit: (message: Uint8Array) => Promise<SubmitResult>
  readonly onOutcome: (outcome: Outcome, message: Uint8Array) => void
  /** Called at each change. True: no more messages can be kept. */
  readonly onFull: (full: boolean) => void
  /** Called at each change: the retriable failure, or undefined when submitting works again. */
  readonly onTrouble: (error: RelayerError | undefined) => void
  /** Most messages that are submitted at once. */
  readonly concurrency: number
  /** Most messages that are kept. */
  readonly limit: number
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
}

/** A guardian set that is unknown for a day is junk, or an upgrade that the target chain has missed: the message can be fetched again. */
const unknownSetForMs = 86_400_000

/** Messages that are being submitted. One that fails retriably stays until it passes: nothing is dropped, and reading stops when the limit is reached. */
export function createSubmissions(options: SubmissionsOptions) {
  const { submit, onOutcome, onFull, concurrency, limit, retry } = options
  const waiting: Entry[] = []
  const delayed = new Map<Entry, NodeJS.Timeout | undefined>()
  const running = new Set<Promise<void>>()
  const reportTrouble = createTroubleReporter(options.onTrouble)
  let full = false
  let closing = false

  const size = () => waiting.length + running.size + delayed.size

  function pump(): void {
    while (running.size < concurrency) {
      const entry = waiting.shift()
      if (!entry) break
      const run = attempt(entry).finally(() => {
        running.delete(run)
        pump()
      })
      running.add(run)
    }
    // Room is reported at half of the limit, so that a full queue does not flutter.
    if (size() >= limit !== full && (size() >= limit || size() <= limit / 2)) onFull((full = !full))
  }

  async function attempt(entry: Entry): Promise<void> {
    try {
      const { id, status } = await submit(entry.message)
      reportTrouble(undefined)
      onOutcome({ kind: status, id }, entry.message)
    } catch (thrown) {
      const error = toRelayerError(thrown)
      if (!error.retriable || isTooOld(entry, error)) return onOutcome({ kind: 'refused', error }, entry.message)
      reportTrouble(error)
      delayed.set(entry, closing ? undefined : setTimeout(enqueue, retryWaitMs(entry.tries++, retry), entry))
    }
  }

  function enqueue(entry: Entry): void {
    delayed.delete(entry)
    waiting.push(entry)
    pump()
  }

  return {
    get size(): number {
      return size()
    },
    add(message: Uint8Array): void {
      enqueue({ message, since: Date.now(), tries: 0 })
    },
    /** Submits what it can within this time, ms; returns how many messages are left behind. */
    async close(graceMs: number): Promise<number> {
      closing = true
      // Those that wait for their next try have a last one now: the failure may be over.
      for (const [entry, timer] of delayed) {
        clearTimeout(timer)
        enqueue(entry)
      }
      const late = sleep(graceMs, 'late' as const, { ref: false })
      while (running.size > 0 && (await Promise.race([...running, late])) !== 'late');
      const left = size()
      waiting.length = 0
      delayed.clear()
      return left
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
