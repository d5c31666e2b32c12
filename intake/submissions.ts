import { backoffMs } from '../domain/backoff.ts'
import { type ErrorCode, type RelayerError, toRelayerError } from '../domain/errors.ts'
import type { SubmitResult } from './submitter.ts'

/** What became of one message. Retriable failures are not reported here: the message stays. */
export type Outcome =
  | { readonly kind: SubmitResult['status']; readonly id: string }
  /** It can never become a transfer, or (GUARDIAN_SET_UNKNOWN) nobody knew its guardian set for a day. */
  | { readonly kind: 'refused'; readonly error: RelayerError }

export interface SubmissionsOptions {
  readonly submit: (message: Uint8Array) => Promise<SubmitResult>
  readonly onOutcome: (outcome: Outcome, message: Uint8Array) => void
  /** Full: no more messages, please. Called at each change. */
  readonly onFull: (full: boolean) => void
  /** What retriable failures say now, or undefined when submitting works again. Called at each change. */
  readonly onTrouble: (error: RelayerError | undefined) => void
  /** Most messages that are submitted at once. */
  readonly concurrency: number
  /** Most messages that are kept, whatever they wait for. */
  readonly limit: number
  /** First and longest wait between two tries of a message, ms. */
  readonly retry: { readonly firstMs: number; readonly mostMs: number }
}

/** Messages on their way through the door. One that fails retriably stays until it passes: nothing is dropped, and reading stops when it is full. */
export interface Submissions {
  add(message: Uint8Array): void
  /** Messages that are kept. */
  readonly size: number
  /** Submits what it can within this time, ms; returns how many messages are left behind. */
  close(graceMs: number): Promise<number>
}

interface Entry {
  readonly message: Uint8Array
  readonly since: number
  tries: number
}

/** A guardian set that nobody knows for a day is junk or an upgrade that the target chain has missed: the message can be fetched again then. */
const unknownSetForMs = 86_400_000

export function createSubmissions(options: SubmissionsOptions): Submissions {
  const { concurrency, limit, retry } = options
  const waiting: Entry[] = []
  const delayed = new Map<Entry, NodeJS.Timeout>()
  const idle = new Set<() => void>()
  let active = 0
  let full = false
  let closing = false
  let leftBehind = 0
  let trouble: ErrorCode | undefined

  function pump(): void {
    while (active < concurrency) {
      const entry = waiting.shift()
      if (!entry) break
      active++
      void run(entry).finally(() => {
        active--
        pump()
      })
    }
    // Room is told of at half, so that a full queue does not flutter.
    const size = waiting.length + active + delayed.size
    if (size >= limit !== full && (size >= limit || size <= limit / 2)) {
      full = !full
      options.onFull(full)
    }
    if (active === 0 && waiting.length === 0) for (const wake of idle) wake()
  }

  async function run(entry: Entry): Promise<void> {
    try {
      const { id, status } = await options.submit(entry.message)
      tell(undefined)
      options.onOutcome({ kind: status, id }, entry.message)
    } catch (thrown) {
      const error = toRelayerError(thrown)
      if (error.retriable && !tooOld(entry, error)) return later(entry, error)
      options.onOutcome({ kind: 'refused', error }, entry.message)
    }
  }

  function later(entry: Entry, error: RelayerError): void {
    tell(error)
    if (closing) return void leftBehind++
    const most = backoffMs(entry.tries++, retry.firstMs, retry.mostMs)
    const waitMs = most / 2 + (Math.random() * most) / 2
    delayed.set(
      entry,
      setTimeout(() => again(entry), waitMs),
    )
  }

  function again(entry: Entry): void {
    delayed.delete(entry)
    waiting.push(entry)
    pump()
  }

  function tell(error: RelayerError | undefined): void {
    // A message of an unknown set says nothing about those of others.
    if (error?.code === 'GUARDIAN_SET_UNKNOWN' || error?.code === trouble) return
    trouble = error?.code
    options.onTrouble(error)
  }

  return {
    get size() {
      return waiting.length + active + delayed.size
    },
    add(message) {
      waiting.push({ message, since: Date.now(), tries: 0 })
      pump()
    },
    async close(graceMs) {
      closing = true
      // The last try of those that wait for their next one: what failed may work by now.
      for (const [entry, timer] of delayed) {
        clearTimeout(timer)
        waiting.push(entry)
      }
      delayed.clear()
      pump()
      if (active > 0 || waiting.length > 0) await settle(graceMs)
      const left = leftBehind + waiting.length + active
      waiting.length = 0
      return left
    },
  }

  function settle(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        idle.delete(done)
        resolve()
      }
      const timer = setTimeout(done, graceMs)
      idle.add(done)
    })
  }
}

function tooOld(entry: Entry, error: RelayerError): boolean {
  return error.code === 'GUARDIAN_SET_UNKNOWN' && Date.now() - entry.since > unknownSetForMs
}
