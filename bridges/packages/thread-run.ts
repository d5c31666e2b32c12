import { deserialize } from 'node:v8'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Shown, SignedMessage, Target } from '../kit/plugin.ts'
import { firstLine } from './guard.ts'

/** Maximum bytes of an answer. A call contains its message, of at most 200,000 bytes. */
const mostBytes = 2 ** 18
const mostMegabytes = 256

/**
 * A message without the field `payload`: the payload is the last `payloadBytes` bytes of `bytes`. `route`: index in the
 * plug-in's `routes`.
 */
export type Question = Omit<SignedMessage, 'payload'> & { readonly payloadBytes: number; readonly route: number }

/** The value that a function of the plug-in returned, as bytes, or what the function did instead. */
export type Answer = { readonly bytes: Uint8Array } | { readonly failed: string }

interface Job {
  readonly name: string
  readonly about: About
  readonly errors: Map<number, unknown>
  succeed(answer: unknown): void
  fail(error: unknown): void
}

/** `digest`: digest of the message that the job is about. `target`: the chain that the job may read. */
interface About {
  readonly digest?: string
  readonly target?: Target
}

type FromThread = { readonly id: number } & (
  | { readonly read: number; readonly view: Omit<Shown, 'is'> }
  | { readonly error: string; readonly step?: unknown; readonly read?: number }
  | Answer
)

/** Thrown if a job takes too long. */
export class LateJob extends Error {}

/** Thrown if the plug-in refuses its settings. */
export class SettingsRefused extends Error {}

/** `digest`: digest of the message on which the plug-in hung. */
type OnEnd = (why: string, digest?: string) => void

/** One thread with the code of a plug-in (thread.mjs). The thread is ended if it does not answer. */
export class ThreadRun {
  /** Names of the functions of the plug-in. `ask` calls them in this order, except the last one, `next`. */
  parts: readonly string[] = []
  readonly #worker: Worker
  readonly #questions: MessagePort
  /** See thread.mjs. */
  readonly #progress = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT))
  readonly #jobs = new Map<number, Job>()
  readonly #answerMs: number
  readonly #onEnd: OnEnd
  #count = 0
  #ended: string | undefined

  /** @param answerMs maximum time of `ask` */
  constructor(answerMs: number, onEnd: OnEnd) {
    const { port1, port2 } = new MessageChannel()
    this.#questions = port1
    this.#answerMs = answerMs
    this.#onEnd = onEnd
    this.#worker = new Worker(new URL('thread.mjs', import.meta.url), {
      workerData: { questions: port2, progress: this.#progress, mostBytes },
      transferList: [port2],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: mostMegabytes },
    })
    this.#worker.unref()
    this.#worker.on('message', (message: FromThread) => this.#receive(message))
    this.#worker.on('error', (error) => this.end(`an error outside of its functions ended it: ${firstLine(error)}`))
    this.#worker.on('exit', () => this.end('it ended itself'))
  }

  /** The reason of the thread's end. Undefined while it runs. */
  get ended(): string | undefined {
    return this.#ended
  }

  end(why: string, digest?: string): void {
    if (this.#ended !== undefined) return
    this.#ended = why
    void this.#worker.terminate()
    this.#questions.close()
    for (const job of this.#jobs.values()) job.fail(new Error(why))
    this.#onEnd(why, digest)
  }

  /**
   * Returns the answers of all `parts` about a message. The whole process waits meanwhile. If the thread does not
   * answer, throws Error and ends the thread. A thread that is busy with a job is not ended, because the job has a
   * limit of its own.
   */
  ask(question?: Question): readonly Answer[] {
    if (this.#ended !== undefined) throw new Error(this.#ended)
    const id = ++this.#count
    Atomics.store(this.#progress, 0, id)
    this.#questions.postMessage({ id, question }, [])
    if (Atomics.wait(this.#progress, 0, id, this.#answerMs) === 'timed-out') {
      Atomics.store(this.#progress, 0, 0)
      const last = Atomics.load(this.#progress, 2)
      const part = this.parts[Atomics.load(this.#progress, 1)] ?? 'it'
      const why = `${part} did not answer within ${this.#answerMs} ms`
      const digest = last === id ? question?.digest : this.#jobs.get(last)?.about.digest
      if (last === id || !question || this.#jobs.size === 0) this.end(why, digest)
      throw new Error(why)
    }
    return (receiveMessageOnPort(this.#questions)?.message ?? []) as readonly Answer[]
  }

  /** Throws LateJob after `limitMs`, and Error if the job throws or the thread ends. */
  run(name: string, input: unknown, limitMs: number, about: About = {}): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(new Error(this.#ended))
    const id = ++this.#count
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new LateJob(`${name} did not answer within ${limitMs} ms`))
        // The job is closed only afterwards, because this job may be the one that blocks the thread.
        this.#endIfBlocked()
        close()
      }, limitMs)
      const close = () => {
        clearTimeout(timer)
        this.#jobs.delete(id)
      }
      const succeed = (answer: unknown) => (close(), resolve(answer))
      const fail = (error: unknown) => (close(), reject(error))
      this.#jobs.set(id, { name, about, errors: new Map(), succeed, fail })
      this.#worker.postMessage({ id, job: name, input }, [])
    })
  }

  #endIfBlocked(): void {
    try {
      this.ask()
    } catch {
      // The thread has ended, in `ask` or before.
    }
  }

  #receive(message: FromThread): void {
    const job = this.#jobs.get(message.id)
    if (!job) return
    if ('view' in message) void this.#read(job, message)
    else if ('bytes' in message) job.succeed(deserialize(message.bytes))
    else if ('failed' in message) job.fail(new Error(`${job.name} ${message.failed}`))
    else job.fail(job.errors.get(message.read ?? 0) ?? new (message.step === 'settings' ? SettingsRefused : Error)(message.error))
  }

  /**
   * Reads a view for `next`. If the read fails, `next` gets only the text of the error, and the error itself is kept
   * here.
   */
  async #read({ about: { target }, errors }: Job, { read, view }: Extract<FromThread, { readonly view: unknown }>): Promise<void> {
    try {
      this.#worker.postMessage({ read, values: plain(await target?.read(view)) }, [])
    } catch (error) {
      if (error instanceof RelayerError) errors.set(read, error)
      this.#worker.postMessage({ read, failed: firstLine(error) }, [])
    }
  }
}

/** Copies the arrays of ethers, which are proxies and cannot be sent to a thread. */
function plain(value: unknown): unknown {
  return Array.isArray(value) ? Array.from(value, plain) : value
}
