import type { Devnet } from '../devnet/index.ts'
import { withBroadcast } from '../devnet/relayer-config.ts'
import { startPortage, type PortageProcess } from '../devnet/portage-process.ts'

/** Several `portage run --role all`, each of which may be killed and is started again, as a supervisor would. */
export interface Fleet {
  /** The processes that are up and awake. */
  readonly alive: readonly PortageProcess[]
  /** How often one had ended by itself, and was started again. */
  readonly restarts: number
  /** kill -9 of one that is up; it comes back after `forMs`. False if none is up. */
  kill(dice: number, forMs: number): Promise<boolean>
  /** Stops one for a while (SIGSTOP): it wakes up after others have taken its work over. False if none is up. */
  freeze(dice: number, forMs: number): Promise<boolean>
  /** Resolves when all are up. Throws if one does not come up in several tries. */
  whole(): Promise<void>
  stop(): Promise<void>
}

/** With its nodes or Temporal away a process may end at its start: a supervisor tries again, and waits a little before. */
const tries = 20
const betweenTriesMs = 1000

/** Resolves when all of them are ready. Throws if one does not come up in several tries. */
export async function startFleet(devnet: Devnet, size: number, wait: (ms: number) => Promise<void>): Promise<Fleet> {
  const fleet = new SupervisedFleet(devnet, size, wait)
  await fleet.start()
  return fleet
}

/** Every other process sends all broadcasts through the lanes' queues: each lane has both forms at a time, and they take each other's work over. */
const formOf = (index: number) => (index % 2 === 0 ? 'auto' : 'queue')

class SupervisedFleet implements Fleet {
  restarts = 0
  readonly #devnet: Devnet
  readonly #wait: (ms: number) => Promise<void>
  /** Undefined where the process was killed, or ended, and is not back yet. */
  readonly #processes: (PortageProcess | undefined)[]
  readonly #returning = new Set<Promise<void>>()
  readonly #frozen = new Set<PortageProcess>()
  #stopping = false

  constructor(devnet: Devnet, size: number, wait: (ms: number) => Promise<void>) {
    this.#devnet = devnet
    this.#wait = wait
    this.#processes = Array.from({ length: size }, () => undefined)
  }

  get alive(): readonly PortageProcess[] {
    return this.#running.map(([, one]) => one).filter((one) => !this.#frozen.has(one))
  }

  async start(): Promise<void> {
    await Promise.all(this.#processes.map((_, index) => this.#startOne(index)))
  }

  async kill(dice: number, forMs: number): Promise<boolean> {
    const [index, victim] = this.#choose(dice)
    if (index === undefined) return false
    this.#processes[index] = undefined
    victim.kill('SIGKILL')
    await victim.exited
    this.#bringBack(index, forMs)
    return true
  }

  async freeze(dice: number, forMs: number): Promise<boolean> {
    const [index, victim] = this.#choose(dice)
    if (index === undefined) return false
    this.#frozen.add(victim)
    victim.kill('SIGSTOP')
    await this.#wait(forMs)
    this.#frozen.delete(victim)
    victim.kill('SIGCONT')
    return true
  }

  async whole(): Promise<void> {
    // A process that ends while others return comes back, too.
    while (this.#returning.size > 0) await Promise.all(this.#returning)
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.allSettled(this.#returning)
    await Promise.all(this.#processes.map(async (one) => one?.stop(15_000)))
  }

  get #running(): (readonly [index: number, process: PortageProcess])[] {
    return this.#processes.flatMap((one, index) => (one && one.ended === undefined ? [[index, one] as const] : []))
  }

  #choose(dice: number): readonly [index: number, process: PortageProcess] | readonly [index: undefined] {
    const running = this.#running
    return running[Math.floor(dice * running.length)] ?? [undefined]
  }

  async #startOne(index: number): Promise<void> {
    for (let attempt = 1; !this.#stopping; attempt++) {
      try {
        const started = await startPortage(this.#devnet, {
          name: `portage-${index + 1}`,
          configure: (config) => withBroadcast(config, formOf(index)),
        })
        this.#processes[index] = started
        void started.exited.then(() => {
          // One that was killed is not in its place any more: `kill` brings it back.
          if (this.#stopping || this.#processes[index] !== started) return
          this.restarts += 1
          this.#bringBack(index, betweenTriesMs)
        })
        return
      } catch (error) {
        if (attempt === tries) throw error
        await this.#wait(betweenTriesMs)
      }
    }
  }

  #bringBack(index: number, afterMs: number): void {
    this.#processes[index] = undefined
    const back = this.#wait(afterMs).then(() => this.#startOne(index))
    this.#returning.add(back)
    // One that failed stays here until `whole` throws its error.
    void back.then(
      () => this.#returning.delete(back),
      () => {},
    )
  }
}
