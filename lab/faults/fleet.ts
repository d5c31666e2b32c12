import type { Devnet } from '../devnet/index.ts'
import { type PortageOptions, type PortageProcess, startPortage } from '../devnet/portage-process.ts'
import { withBroadcast } from '../devnet/relayer-config.ts'

/**
 * One process of a fleet, started the same way each time. Its name begins with `portage-`, so that its log is read
 * (`logs.ts`).
 */
export type FleetProcess = PortageOptions & { readonly name: string }

/** Several Portage processes, each of which may be killed and is started again, as a supervisor would. */
export interface Fleet {
  readonly processes: readonly FleetProcess[]
  /** The processes that are up and awake. */
  readonly alive: readonly PortageProcess[]
  /** How often one had ended by itself, and was started again. */
  readonly restarts: number
  /** The name of each process, alive or dead, by its pid. */
  readonly byPid: ReadonlyMap<number, string>
  /** kill -9 of one that is up; it comes back after `forMs`. False if none is up. */
  kill(dice: number, forMs: number): Promise<boolean>
  /** The same of the one of this name; when it has ended, ms since the epoch. Undefined if it is not up. */
  killOne(name: string, forMs: number): Promise<number | undefined>
  /** Stops it in order and starts it with a failpoint that will kill it; then it comes back without. */
  doom(name: string, failpoints: string): Promise<{ readonly died: Promise<number> }>
  /** Stops one for a while (SIGSTOP): it wakes up after others have taken its work over. False if none is up. */
  freeze(dice: number, forMs: number): Promise<boolean>
  /** Restarts each in turn (SIGTERM), the next once the last is ready. Returns those that did not end in time. */
  restartEach(): Promise<string[]>
  /** Resolves when all are up. Throws if one does not come up in several tries. */
  whole(): Promise<void>
  stop(): Promise<void>
}

/** Without its nodes or Temporal a process may end at its start. A supervisor waits a little and tries again. */
const tries = 20
const betweenTriesMs = 1000
/** As long as an orchestrator waits by default in the Helm chart (`terminationGracePeriodSeconds`). */
const stopMs = 45_000

/** Resolves when all of them are ready. Throws if one does not come up in several tries. */
export async function startFleet(devnet: Devnet, processes: readonly FleetProcess[], wait: (ms: number) => Promise<void>): Promise<Fleet> {
  const fleet = new SupervisedFleet(devnet, processes, wait)
  try {
    await fleet.start()
    return fleet
  } catch (error) {
    await fleet.stop()
    throw error
  }
}

/**
 * Processes of `portage run --role all`. Every other one sends all broadcasts through the lanes' queues, so each lane
 * has both forms at a time and they take over each other's work.
 */
export function allRoles(count: number): FleetProcess[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `portage-${index + 1}`,
    configure: (config) => withBroadcast(config, index % 2 === 0 ? 'auto' : 'queue'),
  }))
}

class SupervisedFleet implements Fleet {
  restarts = 0
  readonly byPid = new Map<number, string>()
  readonly processes: readonly FleetProcess[]
  readonly #devnet: Devnet
  readonly #wait: (ms: number) => Promise<void>
  /** Undefined where the process was killed, or ended, and is not back yet. */
  readonly #started: (PortageProcess | undefined)[]
  readonly #returning = new Set<Promise<void>>()
  readonly #frozen = new Set<PortageProcess>()
  readonly #doomed = new Set<PortageProcess>()
  #stopping = false

  constructor(devnet: Devnet, processes: readonly FleetProcess[], wait: (ms: number) => Promise<void>) {
    this.#devnet = devnet
    this.#wait = wait
    this.processes = processes
    this.#started = processes.map(() => undefined)
  }

  get alive(): readonly PortageProcess[] {
    return this.#running.map(([, one]) => one).filter((one) => !this.#frozen.has(one))
  }

  async start(): Promise<void> {
    const [first, ...others] = this.#started.keys()
    // The first compiles the command line and the workflows, if their sources have changed: the others find both.
    if (first !== undefined) await this.#startOne(first)
    await Promise.all(others.map((index) => this.#startOne(index)))
  }

  async kill(dice: number, forMs: number): Promise<boolean> {
    const [index] = this.#choose(dice)
    return index !== undefined && (await this.#kill(index, forMs)) !== undefined
  }

  killOne(name: string, forMs: number): Promise<number | undefined> {
    return this.#kill(this.#indexOf(name), forMs)
  }

  async doom(name: string, failpoints: string): Promise<{ readonly died: Promise<number> }> {
    const index = this.#indexOf(name)
    await this.#end(index)
    const doomed = await this.#launch(index, { PORTAGE_FAILPOINTS: failpoints })
    this.#doomed.add(doomed)
    const die = async () => {
      await doomed.exited
      const at = Date.now()
      this.#doomed.delete(doomed)
      if (!this.#stopping) this.#bringBack(index, 0)
      return at
    }
    return { died: die() }
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

  async restartEach(): Promise<string[]> {
    const late: string[] = []
    for (const [index, { name }] of this.processes.entries()) {
      const ended = await this.#end(index)
      // Killed by another fault, it comes back by itself.
      if (ended === undefined) continue
      if (ended !== 'ended with code 0') late.push(`${name} ${ended}`)
      await this.#startOne(index)
    }
    return late
  }

  async whole(): Promise<void> {
    // A process that ends while others return comes back, too.
    while (this.#returning.size > 0) await Promise.all(this.#returning)
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.allSettled(this.#returning)
    await Promise.all([...this.#started, ...this.#doomed].map(async (one) => one?.stop(15_000)))
  }

  get #running(): (readonly [index: number, process: PortageProcess])[] {
    return this.#started.flatMap((one, index) => (one && one.ended === undefined ? [[index, one] as const] : []))
  }

  #choose(dice: number): readonly [index: number, process: PortageProcess] | readonly [index: undefined] {
    const running = this.#running
    return running[Math.floor(dice * running.length)] ?? [undefined]
  }

  #indexOf(name: string): number {
    const index = this.processes.findIndex((one) => one.name === name)
    if (index < 0) throw new Error(`The fleet has no ${name}`)
    return index
  }

  async #kill(index: number, forMs: number): Promise<number | undefined> {
    const victim = this.#started[index]
    if (!victim || victim.ended !== undefined) return undefined
    this.#started[index] = undefined
    victim.kill('SIGKILL')
    await victim.exited
    const at = Date.now()
    this.#bringBack(index, forMs)
    return at
  }

  /** Stops one in order. Returns how it ended; undefined: it was not up. */
  async #end(index: number): Promise<string | undefined> {
    const one = this.#started[index]
    if (!one || one.ended !== undefined) return undefined
    this.#started[index] = undefined
    await one.stop(stopMs)
    return one.ended
  }

  async #startOne(index: number): Promise<void> {
    for (let attempt = 1; !this.#stopping; attempt++) {
      try {
        const started = await this.#launch(index)
        this.#started[index] = started
        void started.exited.then(() => {
          // One that was killed is not in its place any more: `kill` brings it back.
          if (this.#stopping || this.#started[index] !== started) return
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

  async #launch(index: number, env: NodeJS.ProcessEnv = {}): Promise<PortageProcess> {
    const own = this.processes[index] as FleetProcess
    const started = await startPortage(this.#devnet, { ...own, env: { ...own.env, ...env } })
    this.byPid.set(started.pid, own.name)
    return started
  }

  #bringBack(index: number, afterMs: number): void {
    this.#started[index] = undefined
    const back = this.#wait(afterMs).then(() => this.#startOne(index))
    this.#returning.add(back)
    // One that failed stays here until `whole` throws its error.
    void back.then(
      () => this.#returning.delete(back),
      () => {},
    )
  }
}
