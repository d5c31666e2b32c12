import { appendFile, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { SigningLimits } from '../../signing-port.ts'
import { LRUCache } from 'lru-cache'

const minuteMs = 60_000
/** Length (ms) of a bucket. With buckets, the spending of an hour covers 60 to 65 minutes. */
const bucketMs = 5 * minuteMs
export const windows = { hour: 60 * minuteMs, day: 24 * 60 * minuteMs } as const
type Window = keyof typeof windows
/** Maximum number of buckets, enough for a week. Age is not the limit, because a clock may jump. */
const mostBuckets = 2_400
/** Number of nonces whose attempts are remembered. A further attempt for an older nonce counts in full. */
const mostNonces = 1_024

export interface Exceeded {
  readonly limit: keyof SigningLimits
  readonly value: bigint
  readonly allowed: bigint
}

export function firstExceeded(limits: SigningLimits, values: readonly (readonly [keyof SigningLimits, bigint])[]): Exceeded | undefined {
  const found = values.find(([limit, value]) => value > BigInt(limits[limit]))
  return found && { limit: found[0], value: found[1], allowed: BigInt(limits[found[0]]) }
}

/** Each nonce counts once, with its most expensive attempt. */
export class SpendingCounter {
  /** By start of the bucket, ms since the epoch. */
  readonly #buckets = new Map<number, { readonly wei: bigint; readonly nonces: readonly Span[] }>()
  readonly #dearest = new LRUCache<number, bigint>({ max: mostNonces })

  added(cost: bigint, nonce: number | undefined): bigint {
    const before = nonce === undefined ? 0n : (this.#dearest.peek(nonce) ?? 0n)
    return cost > before ? cost - before : 0n
  }

  charge(cost: bigint, nonce: number, nowMs: number): void {
    const added = this.added(cost, nonce)
    const bucket = nowMs - (nowMs % bucketMs)
    const before = this.#buckets.get(bucket) ?? { wei: 0n, nonces: [] }
    const nonces = withNonce(before.nonces, nonce)
    if (added === 0n && nonces === before.nonces) return
    if (added > 0n) this.#dearest.set(nonce, cost)
    this.#buckets.set(bucket, { wei: before.wei + added, nonces })
    if (this.#buckets.size > mostBuckets) this.#buckets.delete(Math.min(...this.#buckets.keys()))
  }

  spent(window: Window, nowMs: number): bigint {
    let sum = 0n
    for (const [start, { wei }] of this.#buckets) if (start > nowMs - windows[window] - bucketMs) sum += wei
    return sum
  }

  /** The highest nonce of the last day, of those below `limit`. It may be too high if nonces are scattered. */
  nonceBelow(limit: number, nowMs: number): number | undefined {
    const below = this.#noncesOf('day', nowMs).flatMap(([from, to]) => (from < limit ? [Math.min(to, limit - 1)] : []))
    return below.length === 0 ? undefined : below.reduce((a, b) => Math.max(a, b))
  }

  isOfLastHour(nonce: number, nowMs: number): boolean {
    return this.#noncesOf('hour', nowMs).some(([from, to]) => from <= nonce && nonce <= to)
  }

  #noncesOf(window: Window, nowMs: number): Span[] {
    return [...this.#buckets].flatMap(([start, { nonces }]) => (start > nowMs - windows[window] - bucketMs ? nonces : []))
  }

  /** Also checks an attempt that adds nothing: refused attempts stay counted, so the sum may exceed the limit. */
  exceeded(limits: SigningLimits, cost: bigint, nonce: number | undefined, nowMs: number): Exceeded | undefined {
    const added = this.added(cost, nonce)
    return firstExceeded(limits, [
      ['maxSpendingPerHourWei', this.spent('hour', nowMs) + added],
      ['maxSpendingPerDayWei', this.spent('day', nowMs) + added],
    ])
  }
}

type Span = readonly [from: number, to: number]

/** Maximum number of spans in a bucket. Above it, spans are joined: a nonce too many only costs a no-op. */
const mostSpans = 16

/** Returns the spans themselves if one of them has the nonce. */
function withNonce(spans: readonly Span[], nonce: number): readonly Span[] {
  if (spans.some(([from, to]) => from <= nonce && nonce <= to)) return spans
  const joined: Span[] = []
  for (const span of [...spans, [nonce, nonce] as const].toSorted(([a], [b]) => a - b)) {
    const [from, to] = joined.at(-1) ?? [0, -Infinity]
    if (span[0] > to + 1) joined.push(span)
    else joined.splice(-1, 1, [from, span[1]])
  }
  if (joined.length <= mostSpans) return joined
  const gaps = joined.slice(1).map(([from], index) => from - (joined[index]?.[1] ?? 0))
  const at = gaps.indexOf(Math.min(...gaps))
  return joined.toSpliced(at, 2, [joined[at]?.[0] ?? 0, joined[at + 1]?.[1] ?? 0])
}

const hourMs = windows.hour
const readMs = windows.day + 2 * hourMs
/** Number of newest files that are always kept, because files that still count look old if the clock runs ahead. */
const keptFiles = 200

const freshMs = 1_000

/** Number of bytes at the end of the last read that the next read compares, to notice that a file was changed. */
const comparedBytes = 80

interface SpendingLog {
  /** Wei that were spent, according to the part of the log that has been read. */
  spent(window: Window): bigint
  /** Records an attempt unless it exceeds a limit. Calls run one after another. Throws SPENDING_UNRECORDED. */
  charge(cost: bigint, nonce: number): Promise<Exceeded | undefined>
  /** Records nothing. Reads the log at most once per second. Throws SPENDING_UNRECORDED. */
  check(cost: bigint, nonce: number | undefined): Promise<Exceeded | undefined>
}

/**
 * A log with one file per hour, shared by the processes that use the folder. Before an attempt is signed, `charge`
 * checks the limits, appends the line of the attempt (`<ms since the epoch> <nonce> <wei>`), reads the lines that other
 * processes have appended, and checks again. A refused attempt stays counted. A broken line may have been an attempt,
 * so nothing is signed until the line is repaired or a day old.
 */
export function createSpendingLog(folder: string, limits: SigningLimits, clock: () => number): SpendingLog {
  const files = createSpendingFiles(folder, clock)
  let last: Promise<unknown> = Promise.resolve()

  async function charge(cost: bigint, nonce: number): Promise<Exceeded | undefined> {
    await recorded(folder, files.catchUpIfOld)
    const now = clock()
    const exceeded = files.spending().exceeded(limits, cost, nonce, now)
    if (exceeded) return exceeded
    // Begins with a line break, because a crash may have cut off the previous line.
    const line = `\n${now} ${nonce} ${cost}\n`
    // An attempt that adds no cost gets a line at most once an hour. Pools may get the attempt again, so `nonceBelow`
    // must know its nonce for another day.
    if (files.spending().added(cost, nonce) > 0n || !files.spending().isOfLastHour(nonce, now))
      await recorded(folder, () => appendFile(fileOf(folder, hourOf(now)), line, { mode: 0o600 }))
    await recorded(folder, files.catchUp)
    return files.spending().exceeded(limits, cost, nonce, now)
  }

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work)
    last = mine.catch(() => {})
    return mine
  }
  return {
    spent: (window) => files.spending().spent(window, clock()),
    check: (cost, nonce) =>
      inTurn(() => recorded(folder, files.catchUpIfOld)).then(() => files.spending().exceeded(limits, cost, nonce, clock())),
    charge: (cost, nonce) => inTurn(() => charge(cost, nonce)),
  }
}

/**
 * Returns a function that finds the highest nonce below `limit` that was recorded for signing in the last day, by any
 * process that shares the folder. It needs no key. Throws SPENDING_UNRECORDED.
 */
export function createSignedNonces(folder: string, clock: () => number = Date.now): (limit: number) => Promise<number | undefined> {
  const files = createSpendingFiles(folder, clock)
  return async (limit) => {
    await recorded(folder, files.catchUpIfOld)
    return files.spending().nonceBelow(limit, clock())
  }
}

function createSpendingFiles(folder: string, clock: () => number) {
  let spending = new SpendingCounter()
  /** Hour of a file → the part that was read. A process with a different clock may append to an old file. */
  const readTo = new Map<number, { readonly bytes: number; readonly end: string }>()
  let cleaned = false
  let caughtUpAt = -Infinity

  async function catchUp(): Promise<void> {
    const startedAt = performance.now()
    const oldest = hourOf(clock()) - readMs
    if (!cleaned) await mkdir(folder, { recursive: true, mode: 0o700 })
    const names = (await readdir(folder)).flatMap((name) => /^(\d{1,16})\.log$/.exec(name)?.[1] ?? [])
    const hours = names.map(Number).sort((a, b) => a - b)
    const sizes = new Map<number, number>()
    for (const [index, hour] of hours.entries()) {
      if (hour >= oldest) sizes.set(hour, (await stat(fileOf(folder, hour))).size)
      else if (!cleaned && index < hours.length - keptFiles) await rm(fileOf(folder, hour), { force: true })
    }
    cleaned = true
    for (const hour of readTo.keys()) if (hour >= oldest && !sizes.has(hour)) return startAnew()
    for (const [hour, size] of sizes) if (!(await readOn(hour, size))) return startAnew()
    caughtUpAt = startedAt
  }

  function startAnew(): Promise<void> {
    spending = new SpendingCounter()
    readTo.clear()
    caughtUpAt = -Infinity
    return catchUp()
  }

  async function catchUpIfOld(): Promise<void> {
    if (performance.now() - caughtUpAt > freshMs) await catchUp()
  }

  async function readOn(hour: number, size: number): Promise<boolean> {
    const { bytes, end } = readTo.get(hour) ?? { bytes: 0, end: '' }
    if (size <= bytes) return size === bytes
    const text = await textFrom(fileOf(folder, hour), bytes - end.length, size)
    if (!text.startsWith(end)) return false
    const whole = text.slice(end.length, text.lastIndexOf('\n') + 1)
    const attempts = whole.split('\n').flatMap((line) => {
      const [, at, nonce, cost] = /^(\d{1,16}) (\d{1,16}) (\d{1,40})$/.exec(line) ?? []
      // After a crash, the cost in a line may lack digits. This is harmless: such an attempt was never signed.
      if (at && nonce && cost) return [{ at: Number(at), nonce: Number(nonce), cost: BigInt(cost) }]
      if (!/^[\d ]{0,60}$/.test(line)) throw unreadable(folder, hour)
      return []
    })
    for (const { cost, nonce, at } of attempts) spending.charge(cost, nonce, at)
    // `whole.length` counts bytes, because latin1 has one character per byte.
    readTo.set(hour, { bytes: bytes + whole.length, end: (end + whole).slice(-comparedBytes) })
    return true
  }

  return { spending: () => spending, catchUp, catchUpIfOld }
}

function hourOf(ms: number): number {
  return ms - (ms % hourMs)
}

function unreadable(folder: string, hour: number): RelayerError {
  const detail = `${fileOf(folder, hour)} has a line that Portage did not write. Remove the line, or the file if that hour's spending does not matter.`
  return new RelayerError('SPENDING_UNRECORDED', { detail })
}

function fileOf(folder: string, hour: number): string {
  return join(folder, `${hour}.log`)
}

async function textFrom(path: string, from: number, to: number): Promise<string> {
  const handle = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(to - from), 0, to - from, from)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

async function recorded<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof RelayerError) throw cause
    const { code, message } = cause as NodeJS.ErrnoException
    throw new RelayerError('SPENDING_UNRECORDED', { detail: `${folder}: ${code ?? message}`, cause })
  }
}
