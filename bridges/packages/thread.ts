import { LRUCache } from 'lru-cache'
import type { PluginContext, SignedMessage, Target } from '../kit/plugin.ts'
import { withCopy } from './copy.ts'
import { firstLine } from './guard.ts'
import { type Answer, type Question, ThreadRun } from './thread-run.ts'

/** Limits of the thread of a plug-in, ms. */
export interface ThreadLimits {
  /** Limit of each of two jobs: to load the file, and to create the plug-in. */
  readonly startMs: number
  /** Time of all functions but `next` together, for one message. It is short, because the whole process waits. */
  readonly answerMs: number
  readonly nextMs: number
  /** Time from the end of a thread to the start of the next one. */
  readonly restMs: number
}

export const threadLimits: ThreadLimits = { startMs: 10_000, answerMs: 1_000, nextMs: 10_000, restMs: 20_000 }

/**
 * Hours until a plug-in that hung on a message gets this message again: after the first, the second, and each later
 * hang. Each message is tried again, because a busy machine can cause a hang, too. Even with hundreds of such messages,
 * the thread rests only for a small part of each week.
 */
const hungHours = [1, 24, 168] as const
const mostHung = 20_000
/**
 * Time between two orders that end such a pause, ms. Anyone with access to Temporal can repeat the order, and the
 * thread rests after each hang.
 */
const orderEveryMs = 3_600_000

interface Hang {
  readonly reason: string
  /** Earlier hangs on the same message. */
  readonly before: number
  readonly at: number
  /** Time of the hang, ms since the epoch. */
  readonly time: number
  /** Last order to retry the message, without an order that still waits for its effect. 0: none. Undefined: unknown. */
  readonly order: number | undefined
}

/** Time above which an answer counts as slow, ms. */
const quickMs = 20

/** The code of a plug-in package in a thread of its own. If the thread ends, another one starts after a rest. */
export interface PluginThread {
  /** The default export of the file, with the text `function` in place of functions. */
  readonly definition: unknown
  /** Resolves with what `create` made, as data: see `jobs.create` in thread.mjs. Throws Error. */
  create(settings: unknown, context: PluginContext): Promise<unknown>
  /** Asks all functions but `next` about a message. Throws Error if the thread rests, is slow, or does not answer. */
  describe(message: SignedMessage, route: number): ReadonlyMap<string, Answer>
  /** Throws Error, and the errors of `target.read`. */
  next(message: SignedMessage, route: number, target: Target): Promise<unknown>
  /**
   * Takes the last order to retry a message (ms since the epoch, undefined if there is none). A new order ends the
   * pause of a message on which the plug-in hung. An order that comes within an hour of another one, also for another
   * message, has its effect at a later call.
   */
  retry(digest: string, orderedAt: number | undefined): void
  close(): void
}

interface Created {
  readonly settings: unknown
  readonly context: PluginContext
}

/** Starts a thread, and loads a plug-in from its bytes. Throws Error if the plug-in cannot be loaded. */
export async function startThread(bytes: Uint8Array, limits = threadLimits): Promise<PluginThread> {
  let run: ThreadRun | undefined
  let why = 'it is closed'
  let isClosed = false
  const inShare = createShare(limits)
  const hangs = createHangs()
  let created: Created | undefined

  async function begin(): Promise<unknown> {
    const one = new ThreadRun(limits.answerMs, (reason, digest) => {
      if (digest !== undefined) hangs.add(digest, reason)
      if (run === one) rest(reason)
    })
    try {
      const definition = await withCopy(bytes, (url) => one.run('load', url, limits.startMs))
      if (created) await createIn(one, created, limits)
      // A thread may end in the same turn in which it answers, so its end may have been handled before this line.
      if (isClosed || one.ended !== undefined) throw new Error(one.ended ?? why)
      run = one
      return definition
    } catch (error) {
      one.end('it did not start')
      throw error
    }
  }

  function rest(reason: string): void {
    run = undefined
    why = reason
    setTimeout(() => {
      if (!isClosed) begin().catch((error: unknown) => rest(firstLine(error)))
    }, limits.restMs).unref()
  }

  function running(digest = ''): ThreadRun {
    if (!run) throw new Error(`it rests until it is started again, because ${why}`)
    hangs.demandOver(digest)
    return run
  }

  return {
    definition: await begin(),
    create(settings, context) {
      created = { settings, context }
      return createIn(running(), created, limits)
    },
    describe(message, route) {
      const one = running(message.digest)
      return new Map(inShare(() => one.ask(questionOf(message, route))).map((answer, place) => [one.parts[place] ?? '', answer]))
    },
    next(message, route, target) {
      const { digest } = message
      return running(digest).run('next', { question: questionOf(message, route), now: target.now }, limits.nextMs, { digest, target })
    },
    retry: hangs.retry,
    close() {
      isClosed = true
      run?.end('it is closed')
    },
  }
}

/** Remembers the messages, by digest, on which the plug-in hung. */
function createHangs() {
  const hung = new LRUCache<string, Hang>({ max: mostHung })
  /**
   * Last order of each message without a hang, 0: none. Forged messages can evict entries, because `retry` gets
   * messages that are not verified. So the order of a message with a hang is part of the hang.
   */
  const orders = new LRUCache<string, number>({ max: mostHung })
  let lastOrder = -Infinity
  const hoursOf = ({ before }: Hang) => hungHours[before] ?? hungHours[2]
  /** Undefined if the plug-in gets the message. */
  const pausedBy = (digest: string): Hang | undefined => {
    const hang = hung.get(digest)
    return hang && performance.now() - hang.at <= hoursOf(hang) * 3_600_000 ? hang : undefined
  }
  return {
    add(digest: string, reason: string): void {
      const last = hung.get(digest)
      const order = last ? last.order : orders.get(digest)
      hung.set(digest, { reason, before: last ? last.before + 1 : 0, at: performance.now(), time: Date.now(), order })
    },
    /** Throws Error until the pause of the message is over. */
    demandOver(digest: string): void {
      const hang = pausedBy(digest)
      if (hang) throw new Error(`it hung on this message, and gets it again after ${hoursOf(hang)} h: ${hang.reason}`)
    },
    /** See `PluginThread.retry`. */
    retry(digest: string, order = 0): void {
      const hang = hung.get(digest)
      if (!hang) return void orders.set(digest, order)
      // The two times are of different clocks: an order has its time by the clock of Temporal.
      const isNew = order > 0 && (hang.order === undefined ? order > hang.time : order !== hang.order)
      const endsPause = isNew && pausedBy(digest) !== undefined
      if (endsPause && performance.now() - lastOrder < orderEveryMs) return
      if (endsPause) lastOrder = performance.now()
      hung.set(digest, { ...hang, order, ...(endsPause && { at: -Infinity }) })
    },
  }
}

/** Creates the plug-in in a thread, and remembers the names of its functions. Returns what `create` made, as data. */
async function createIn(run: ThreadRun, created: Created, { startMs }: ThreadLimits): Promise<unknown> {
  const made = (await run.run('create', created, startMs)) as { readonly parts: readonly string[] }
  run.parts = [...made.parts, 'next']
  return made
}

/** The returned function calls `run`, or throws Error if slow answers have used up their share of the time. */
function createShare({ answerMs, restMs }: ThreadLimits) {
  /** Total time of slow answers, ms. It decreases by `answerMs` in each `restMs`. */
  let [slowMs, slowAt] = [0, performance.now()]
  return <T>(run: () => T): T => {
    const now = performance.now()
    slowMs = Math.max(0, slowMs - ((now - slowAt) * answerMs) / restMs)
    slowAt = now
    if (slowMs >= answerMs) throw new Error(`its functions took more than ${answerMs} ms of the last ${restMs / 1_000} s`)
    try {
      return run()
    } finally {
      const took = performance.now() - now
      if (took > quickMs) slowMs += took
    }
  }
}

/** The bytes are copied, because a view would be sent with its whole buffer, including bytes outside the message. */
function questionOf({ bytes, payload, source, emitterChain, emitter, sequence, digest }: SignedMessage, route: number): Question {
  return { bytes: Uint8Array.from(bytes), payloadBytes: payload.length, source, emitterChain, emitter, sequence, digest, route }
}
