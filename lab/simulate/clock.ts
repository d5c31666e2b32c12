import { AsyncLocalStorage } from 'node:async_hooks'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { type Chance, chanceOf } from '../faults/random.ts'

export interface Timer {
  cancelled: boolean
}

interface Scheduled extends Timer {
  readonly at: number
  readonly order: number
  readonly act: () => unknown
}

/** The real `setImmediate`, which lets a long simulation react to signals. */
const letEventsIn = setImmediate
const eventsPerTurn = 5_000

/** Start of wall time, ms since the epoch. It is fixed, so that equal seeds give equal traces. */
const epoch = Date.UTC(2026, 0, 1)

/** Simulated time, ms since the start. Runs one event at a time, and all its microtasks before the next event. */
export class Clock {
  now = 0
  /** Wall time of the recorded activation while a workflow replays. */
  replayed: number | undefined
  #skew = 0
  #order = 0
  readonly #heap: Scheduled[] = []

  get wall(): number {
    return this.replayed ?? Math.floor(epoch + this.now + this.#skew)
  }

  /** Moves wall time, as NTP does. Timers do not move. */
  jump(ms: number): void {
    this.#skew += ms
  }

  after(ms: number, act: () => unknown): Timer {
    const timer = { at: this.now + Math.max(0, ms), order: this.#order++, act, cancelled: false }
    this.#push(timer)
    return timer
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve))
  }

  /** Runs events until `isOver` returns true, the time is `until`, or no event is left. */
  async run(until: number, isOver: () => boolean): Promise<void> {
    for (let events = 1; !isOver(); events++) {
      const next = this.#pop()
      if (!next || next.at > until) return
      if (next.cancelled) continue
      this.now = next.at
      const work = next.act()
      if (work instanceof Promise) await work
      await microtasks()
      if (events % eventsPerTurn === 0) await new Promise((resolve) => letEventsIn(resolve))
    }
  }

  #push(timer: Scheduled): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(timer)
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = heap[above]
      if (!parent || !isBefore(timer, parent)) break
      heap[at] = parent
      at = above
    }
    heap[at] = timer
  }

  #pop(): Scheduled | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (!first || !last || heap.length === 0) return first
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      let child = heap[below]
      if (!child) break
      const right = heap[below + 1]
      if (right && isBefore(right, child)) {
        child = right
        below += 1
      }
      if (!isBefore(child, last)) break
      heap[at] = child
      at = below
    }
    heap[at] = last
    return first
  }
}

function isBefore(a: Scheduled, b: Scheduled): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/**
 * Resolves when all microtasks have run. Must be called from a microtask, because only then do all microtasks run
 * before `nextTick`.
 */
export function microtasks(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}

interface Globals {
  clock: Clock
  chance: Chance
}

/** The running simulation, which the replaced globals of Node read. */
export const world: Globals = { clock: new Clock(), chance: chanceOf('') }

/**
 * Replaces globals of Node, such as time, timers and random numbers, with simulated ones. Must run before Temporal's
 * workflow library, which reads `AsyncLocalStorage` from the global object.
 */
export function replaceGlobals(): void {
  class SimulatedDate extends Date {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [world.clock.wall] : given) as [number]))
    }

    static override now(): number {
      return world.clock.wall
    }
  }
  const every = (act: (...given: unknown[]) => void, ms: number, ...given: unknown[]) => {
    const handle = handleOf(() => {
      act(...given)
      if (!handle.timer.cancelled) handle.timer = world.clock.after(ms, handle.act)
    }, ms)
    return handle
  }
  const once = (act: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) => handleOf(() => act(...given), ms)
  const clear = (handle: Handle | undefined) => {
    if (handle?.timer) handle.timer.cancelled = true
  }
  Object.assign(globalThis, {
    AsyncLocalStorage,
    Date: SimulatedDate,
    setTimeout: once,
    setInterval: every,
    setImmediate: (act: (...given: unknown[]) => void, ...given: unknown[]) => once(act, 0, ...given),
    ...{ clearTimeout: clear, clearInterval: clear, clearImmediate: clear },
  })
  performance.now = () => world.clock.now
  Math.random = () => world.chance.next()
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController()
    world.clock.after(ms, () => controller.abort(new DOMException('The operation timed out', 'TimeoutError')))
    return controller.signal
  }
  Object.assign(timers, { setTimeout: sleep })
  Object.assign(crypto, {
    randomUUID: () => hex(32).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5'),
    randomBytes: (bytes: number) => Buffer.from(hex(2 * bytes), 'hex'),
  })
  syncBuiltinESMExports()
}

interface Handle {
  timer: Timer
  readonly act: () => void
  ref(): Handle
  unref(): Handle
  hasRef(): boolean
}

function handleOf(act: () => void, ms: number): Handle {
  const handle: Handle = { timer: world.clock.after(ms, () => act()), act, ref: () => handle, unref: () => handle, hasRef: () => true }
  return handle
}

function hex(digits: number): string {
  return Array.from({ length: digits }, () => world.chance.whole(0, 15).toString(16)).join('')
}

function sleep<T>(ms: number, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const end = () => {
      timer.cancelled = true
      reject(new DOMException('The operation was aborted', 'AbortError'))
    }
    const timer = world.clock.after(ms, () => {
      signal?.removeEventListener('abort', end)
      resolve(value)
    })
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end, { once: true })
  })
}
