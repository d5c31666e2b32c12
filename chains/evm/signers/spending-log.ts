import { appendFile, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { SpendingCounter, windows } from './spending-counter.ts'

const hourMs = windows.hour
/** Files of earlier hours are read by no window. */
const readMs = windows.day + 2 * hourMs
/** Of them so many are kept, the newest: a process that starts with a clock that is ahead must not remove what counts once the clock is right. */
const keptFiles = 200

/** What was read so short a time ago, ms, is not read again before an attempt is recorded: after that everything is, in any case. */
const freshMs = 1_000

/** Counts what a key signs for, whatever process does. */
export interface SpendingLog {
  /**
   * Counts an attempt and records it, unless `refuse` throws. One after the other: of many at once, each sees those before it.
   * Throws what `refuse` throws, SPENDING_UNRECORDED.
   */
  charge(cost: bigint, nonce: number, refuse: (spending: SpendingCounter, nowMs: number) => void): Promise<void>
  /** As it was last read. */
  readonly spending: SpendingCounter
  /** Reads what there is, unless it was read within the last second. Throws SPENDING_UNRECORDED. */
  load(): Promise<void>
}

/** In memory: a new process begins at nothing. */
export function createSpendingMemory(clock: () => number = Date.now): SpendingLog {
  const spending = new SpendingCounter()
  return {
    spending,
    load: () => Promise.resolve(),
    async charge(cost, nonce, refuse) {
      if (spending.added(cost, nonce) === 0n) return
      refuse(spending, clock())
      spending.charge(cost, nonce, clock())
    },
  }
}

/**
 * In a folder, a file per hour, a line per attempt (`<ms since the epoch> <nonce> <wei>`), written before the attempt is signed. Lines are only appended, so that
 * several processes with the key count together: each appends, reads what all have appended, and then looks at the limits once more. Of several at once the last
 * sees all others. What was appended and then refused stays counted. A line that a crash cut short is of an attempt that was not signed, and is passed over.
 */
export function createSpendingLog(folder: string, clock: () => number = Date.now): SpendingLog {
  const spending = new SpendingCounter()
  /** Hour of a file → byte that it is read to. Of every file, since the clock of a process may be behind another's, or be set back. */
  const readTo = new Map<number, number>()
  let cleaned = false
  /** When all was last read, by a clock that nobody sets. */
  let caughtUpAt = -Infinity
  let last: Promise<unknown> = Promise.resolve()

  /** What other processes, or this one, have appended. */
  async function catchUp(): Promise<void> {
    const startedAt = performance.now()
    const oldest = hourOf(clock()) - readMs
    if (!cleaned) await mkdir(folder, { recursive: true, mode: 0o700 })
    const names = (await readdir(folder)).flatMap((name) => /^(\d{13})\.log$/.exec(name)?.[1] ?? [])
    const hours = names.map(Number).sort((a, b) => a - b)
    for (const [index, hour] of hours.entries()) {
      if (hour >= oldest) await readOn(hour)
      else if (!cleaned && index < hours.length - keptFiles) await rm(fileOf(folder, hour), { force: true })
    }
    cleaned = true
    caughtUpAt = startedAt
  }

  async function catchUpIfOld(): Promise<void> {
    if (performance.now() - caughtUpAt > freshMs) await catchUp()
  }

  /** Counts the lines of a file that are not counted yet, up to the last whole one. */
  async function readOn(hour: number): Promise<void> {
    const offset = readTo.get(hour) ?? 0
    const text = await textFrom(fileOf(folder, hour), offset)
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    const lines = whole.split('\n')
    for (const [index, line] of lines.entries()) {
      // After a whole line comes an empty one, which begins the next attempt: one that a crash cut short has the next attempt there.
      if (lines[index + 1] !== '') continue
      const [, at, nonce, cost] = /^(\d{13}) (\d{1,16}) (\d{1,40})$/.exec(line) ?? []
      if (at && nonce && cost) spending.charge(BigInt(cost), Number(nonce), Number(at))
    }
    readTo.set(hour, offset + Buffer.byteLength(whole))
  }

  async function charge(cost: bigint, nonce: number, refuse: (spending: SpendingCounter, nowMs: number) => void): Promise<void> {
    await recorded(folder, catchUpIfOld)
    const now = clock()
    refuse(spending, now)
    if (spending.added(cost, nonce) === 0n) {
      // Nothing is to be recorded, but what others have appended since the last look counts all the same.
      await recorded(folder, catchUp)
      return refuse(spending, now)
    }
    // The first line break ends a line that a crash may have left open.
    await recorded(folder, () => appendFile(fileOf(folder, hourOf(now)), `\n${now} ${nonce} ${cost}\n`, { mode: 0o600 }))
    await recorded(folder, catchUp)
    // With what others have appended meanwhile. This attempt is among it, and adds nothing more.
    refuse(spending, now)
  }

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work)
    last = mine.catch(() => {})
    return mine
  }
  return {
    spending,
    load: () => inTurn(() => recorded(folder, catchUpIfOld)),
    charge: (cost, nonce, refuse) => inTurn(() => charge(cost, nonce, refuse)),
  }
}

function hourOf(ms: number): number {
  return ms - (ms % hourMs)
}

function fileOf(folder: string, hour: number): string {
  return join(folder, `${hour}.log`)
}

/** The text of a file from a byte on; empty where there is none. Most files have nothing new, and are not opened. */
async function textFrom(file: string, offset: number): Promise<string> {
  const size = await stat(file).then(
    (found) => found.size,
    () => Infinity,
  )
  if (size <= offset) return ''
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!handle) return ''
  try {
    const { size } = await handle.stat()
    const buffer = Buffer.alloc(Math.max(0, size - offset))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset)
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
