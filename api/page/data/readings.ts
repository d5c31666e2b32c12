import { useEffect } from 'preact/hooks'
import { ask, type Problem, Refused, unreachable } from './api.ts'
import { serverNow } from './clock.ts'
import { connection } from './connection.ts'
import { session } from './session.ts'
import { createStore, type Store, useStore } from './store.ts'

/** What was read of the API, and how the last try went. */
export interface Reading<T> {
  readonly data?: T
  /** When `data` was read, ms since the epoch by the server's clock. */
  readonly at?: number
  /** Of the last try; absent: it was answered. `data` is then older. */
  readonly problem?: Problem
}

/** After an event, so long until what is shown is read again, ms: many come at a time. */
const settleMs = 300
/** Between two reads of one thing, whatever happens, ms. */
const leastMs = 1_000

interface Entry {
  readonly store: Store<Reading<unknown>>
  readonly everyMs: number
  users: number
  readAt: number
  timer: ReturnType<typeof setTimeout> | undefined
  isReading: boolean
  /** Something happened during the read. */
  isStale: boolean
}

const entries = new Map<string, Entry>()

/**
 * What the API says at a path, read again and again as long as it is shown.
 * @param everyMs without events; with them half as often
 */
export function useReading<T>(path: string, everyMs: number): Reading<T> {
  const entry = entryOf(path, everyMs)
  useEffect(() => {
    entry.users += 1
    if (entry.users === 1) void read(path, entry)
    return () => {
      entry.users -= 1
      if (entry.users > 0) return
      clearTimeout(entry.timer)
      entries.delete(path)
    }
  }, [path, entry])
  return useStore(entry.store) as Reading<T>
}

/** Reads all that is shown again, soon: something has happened. */
export function refreshAll(): void {
  for (const [path, entry] of entries) again(path, entry, Math.max(settleMs, entry.readAt + leastMs - Date.now()))
}

// With another token, at once: what it may see, and whether it is good at all.
session.subscribe(() => {
  for (const [path, entry] of entries) {
    if (!session.get()) entry.store.set({})
    again(path, entry, 0)
  }
})

function entryOf(path: string, everyMs: number): Entry {
  const found = entries.get(path)
  if (found) return found
  const made: Entry = {
    store: createStore<Reading<unknown>>({}),
    everyMs,
    users: 0,
    readAt: 0,
    timer: undefined,
    isReading: false,
    isStale: false,
  }
  entries.set(path, made)
  return made
}

function again(path: string, entry: Entry, inMs: number): void {
  if (entry.isReading) return void (entry.isStale = true)
  clearTimeout(entry.timer)
  entry.timer = setTimeout(() => void read(path, entry), inMs)
}

async function read(path: string, entry: Entry): Promise<void> {
  if (entry.isReading) return
  entry.isReading = true
  entry.isStale = false
  entry.readAt = Date.now()
  try {
    if (session.get()) entry.store.set({ data: await ask(path), at: serverNow() })
  } catch (error) {
    const problem = error instanceof Refused ? error.problem : unreachable
    entry.store.set({ ...entry.store.get(), problem })
  } finally {
    entry.isReading = false
    if (entry.users > 0) again(path, entry, entry.isStale ? leastMs : pauseOf(entry))
  }
}

function pauseOf({ everyMs }: Entry): number {
  // Nobody looks at a page in the background, but its figures are not to be hours old when somebody does.
  if (document.hidden) return Math.max(everyMs, 30_000)
  return connection.store.get().isStreaming ? everyMs * 2 : everyMs
}

// What the browser knows of its network is known at once.
for (const name of ['online', 'offline']) window.addEventListener(name, refreshAll)

document.addEventListener('visibilitychange', () => !document.hidden && refreshAll())
