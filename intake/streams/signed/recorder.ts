import type { Bridge } from '../../../bridges/port.ts'
import type { ErrorCode, RelayerError } from '../../../domain/catalogue/errors.ts'
import type { ChainName } from '../../../domain/transfer/transfer.ts'
import { boundedMap } from '../../../runtime/bounded-map.ts'
import { type NumberStatus, seenRequests } from '../number-status.ts'
import type { StreamClient } from '../stream-client.ts'
import type { BlockedTransfer, SignedDeps } from './deps.ts'
import { blockedTransfer, isIgnorable } from './gaps/fetch-messages.ts'

export interface RecorderOptions {
  readonly streamClient: Pick<StreamClient, 'apply' | 'view'>
  /** Interval of recording. If `many` numbers wait, recording starts earlier. */
  readonly everyMs?: number
  readonly many?: number
  /** Interval while no number needs a delivery. Default: `everyMs`. */
  readonly quietMs?: number
}

export type Recorder = ReturnType<typeof createRecorder>

/**
 * Maximum numbers in one request. Of the waiting numbers, those beyond `mostKept` are dropped, and audits find them.
 */
const mostRecorded = 1_000
const mostKept = 20_000

export function createRecorder({ streamClient, everyMs = 1_000, many = 100, quietMs = everyMs }: RecorderOptions) {
  const kept = boundedMap<string, NumberStatus>(mostKept)
  let recording: Promise<void> | undefined
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let dueAt = Infinity

  function stopTimer(): void {
    clearTimeout(timer)
    dueAt = Infinity
  }

  function recordLater(status?: NumberStatus): void {
    if (closed || kept.size === 0) return
    const mayWait = quietMs > everyMs && (status === 'ignored' || [...kept.values()].every((each) => each === 'ignored'))
    const waitMs = mayWait ? quietMs : everyMs
    if (performance.now() + waitMs >= dueAt) return
    stopTimer()
    dueAt = performance.now() + waitMs
    timer = setTimeout(() => void flush().catch(() => {}), waitMs)
  }

  async function record(): Promise<void> {
    const next = () => nextBatch([...kept.entries()], streamClient.view?.room)
    for (let batch = next(); batch.length > 0 && !closed; batch = next()) {
      const response = await streamClient.apply(seenRequests(batch, { received: true }))
      if (response?.answers[0]?.kind !== 'done') return
      for (const [number, status] of batch) if (kept.peek(number) === status) kept.delete(number)
    }
  }

  async function flush(): Promise<void> {
    stopTimer()
    while (recording) await recording.catch(() => {})
    recording = record()
    try {
      await recording
    } finally {
      recording = undefined
      recordLater()
    }
  }

  return {
    get size(): number {
      return kept.size
    },
    has: (number: string) => kept.has(number),
    add(number: string, status: NumberStatus): void {
      // `delivered` and `ignored` replace `started`, because they are final.
      if (kept.peek(number) === undefined || status !== 'started') kept.set(number, status)
      if (kept.size === many && !recording) void flush().catch(() => {})
      else recordLater(status)
    },
    get lowest(): string | undefined {
      return [...kept.keys()].sort(compareNumbers)[0]
    },
    /** Throws STREAM_UNREACHABLE after the client was closed. */
    flush,
    close(): void {
      closed = true
      stopTimer()
    },
  }
}

/**
 * The next numbers to record. The lowest come first, so that few gaps arise. Numbers without a transfer need no room.
 */
function nextBatch(kept: readonly [string, NumberStatus][], room = mostRecorded): readonly [string, NumberStatus][] {
  let left = room
  const fitting = room > 0 ? kept : kept.filter(([, status]) => status !== 'started')
  const sorted = fitting.toSorted(([a], [b]) => compareNumbers(a, b))
  return sorted.filter(([, status]) => status !== 'started' || left-- > 0).slice(0, mostRecorded)
}

/** Without leading zeros, the longer number is the higher one. */
function compareNumbers(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1)
}

const [mostKnown, knownMs] = [10_000, 600_000] as const
const mostAtOnce = 64

/**
 * Returns a function that records a refused message as ignored, once its signatures are verified. Anybody can repeat a
 * message, so verified numbers are remembered.
 */
export function createIgnoredMessages(
  deps: Pick<SignedDeps, 'source' | 'bridge'> & { readonly streamClient: Pick<SignedDeps['streamClient'], 'view'> },
  recorder: Pick<Recorder, 'add' | 'has'>,
): (number: string, vaa: Uint8Array, refusedAs?: ErrorCode) => Promise<void> {
  const known = boundedMap<string, true>(mostKnown, knownMs)
  const running = new Set<string>()

  function isSettled(number: string): boolean {
    const { completedNumber } = deps.streamClient.view ?? {}
    const isBelow = completedNumber !== undefined && BigInt(number) <= BigInt(completedNumber)
    return isBelow || known.has(number) || recorder.has(number)
  }

  return async (number, vaa, refusedAs) => {
    if (isSettled(number) || running.has(number) || running.size >= mostAtOnce) return
    running.add(number)
    try {
      if (!(await isIgnorable(deps, vaa, refusedAs))) return
      known.set(number, true)
      recorder.add(number, 'ignored')
    } finally {
      running.delete(number)
    }
  }
}

const mostDelayed = 10_000
const newEveryMs = 5_000

/**
 * Remembers why the transfers of received messages cannot start now. Calls `onNew` for a new message or a new reason,
 * at most once per `newEveryMs`.
 */
export function createDelayedMessages(bridge: Pick<Bridge, 'decode'>, onNew: () => void) {
  const blocked = boundedMap<string, BlockedTransfer>(mostDelayed)
  let calledAt = -Infinity
  return {
    of: (number: string): BlockedTransfer | undefined => blocked.get(number),
    add(number: string, vaa: Uint8Array, error: RelayerError): void {
      if (blocked.get(number)?.code === error.code) return
      blocked.set(number, blockedTransfer(error, targetOf(bridge, vaa)))
      const now = performance.now()
      if (now - calledAt < newEveryMs) return
      calledAt = now
      onNew()
    },
    delete: (number: string) => void blocked.delete(number),
  }
}

function targetOf(bridge: Pick<Bridge, 'decode'>, vaa: Uint8Array): ChainName {
  try {
    return bridge.decode(vaa).targetChain
  } catch {
    return ''
  }
}
