import { useEffect } from 'preact/hooks'
import { ask, connection, problemIn, type ShownProblem } from './api.ts'
import { serverNow } from './clock.ts'
import { session } from './session.ts'
import { createStore, useStore } from './store.ts'

export interface Reading<T> {
  readonly data?: T
  /** Time by the server's clock, ms since the epoch. */
  readonly at?: number
  readonly problem?: ShownProblem
}

const settleMs = 300
const leastMs = 1_000

type Entry = ReturnType<typeof createEntry>

function createEntry(everyMs: number) {
  const timer = undefined as ReturnType<typeof setTimeout> | undefined
  return { store: createStore<Reading<unknown>>({}), everyMs, users: 0, readAt: -Infinity, timer, isReading: false, isStale: false }
}

const entries = new Map<string, Entry>()

/** Reads a path every `everyMs` while a component shows it, but less often if events arrive or the page is hidden. */
export function useReading<T>(path: string, everyMs: number): Reading<T> {
  const entry = entryOf(path, everyMs)
  useEffect(() => {
    entry.users += 1
    // Adds the entry again, because another component may have removed it between this render and this effect.
    entries.set(path, entry)
    if (entry.users === 1) void read(path, entry)
    return () => {
      entry.users -= 1
      if (entry.users > 0) return
      clearTimeout(entry.timer)
      if (entries.get(path) === entry) entries.delete(path)
    }
  }, [path, entry])
  return useStore(entry.store) as Reading<T>
}

export function refreshAll(): void {
  for (const [path, entry] of entries) readAgainIn(path, entry, Math.max(settleMs, entry.readAt + leastMs - performance.now()))
}

session.subscribe(() => {
  for (const [path, entry] of entries) {
    if (!session.get()) entry.store.set({})
    readAgainIn(path, entry, 0)
  }
})

function entryOf(path: string, everyMs: number): Entry {
  const entry = entries.get(path) ?? createEntry(everyMs)
  entries.set(path, entry)
  return entry
}

function readAgainIn(path: string, entry: Entry, inMs: number): void {
  if (entry.isReading) return void (entry.isStale = true)
  clearTimeout(entry.timer)
  entry.timer = setTimeout(() => void read(path, entry), inMs)
}

async function read(path: string, entry: Entry): Promise<void> {
  if (entry.isReading) return
  entry.isReading = true
  entry.isStale = false
  entry.readAt = performance.now()
  try {
    if (session.get()) entry.store.set({ data: await ask(path), at: serverNow() })
  } catch (error) {
    entry.store.set({ ...entry.store.get(), problem: problemIn(error) })
  } finally {
    entry.isReading = false
    if (entry.users > 0) readAgainIn(path, entry, entry.isStale ? leastMs : pauseOf(entry))
  }
}

function pauseOf({ everyMs }: Entry): number {
  // A hidden page still polls, but rarely, so that its figures are not hours old when the user returns.
  if (document.hidden) return Math.max(everyMs, 30_000)
  return connection.get().isStreaming ? everyMs * 2 : everyMs
}

for (const name of ['online', 'offline']) window.addEventListener(name, refreshAll)

document.addEventListener('visibilitychange', () => !document.hidden && refreshAll())
