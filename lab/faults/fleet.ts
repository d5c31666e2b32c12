import type { Devnet } from '../devnet/index.ts'
import { type PortageOptions, type PortageProcess, startPortage } from '../devnet/portage-process.ts'
import { withBroadcast } from '../devnet/relayer-config.ts'

/** Options of a process. The name must begin with `portage-`, because `logs.ts` reads only logs with this prefix. */
export type FleetProcess = PortageOptions & { readonly name: string }

/** Several Portage processes. Killed processes are started again, as a supervisor would do. */
export interface Fleet {
  readonly processes: readonly FleetProcess[]
  /** Processes that run and are not frozen. */
  readonly alive: readonly PortageProcess[]
  /** Number of processes that ended by themselves and were started again. */
  readonly restarts: number
  /** Process names by pid, including pids of dead processes. */
  readonly byPid: ReadonlyMap<number, string>
  /** Whether `kill` and `freeze` leave the process alone. */
  isSpared(name: string): boolean
  /** Kills a random running process (SIGKILL) and starts it again after `forMs`. Returns false if no process runs. */
  kill(dice: number, forMs: number): Promise<boolean>
  /** Kills the named process. Returns the time of its end, ms since the epoch, or undefined if it did not run. */
  killOne(name: string, forMs: number): Promise<number | undefined>
  /** Restarts the process with failpoints that kill it. After its death, starts it without failpoints. */
  doom(name: string, failpoints: string): Promise<{ readonly died: Promise<number> }>
  /** Freezes a random process (SIGSTOP) for `forMs`. Returns false if no process runs. */
  freeze(dice: number, forMs: number): Promise<boolean>
  /** Restarts the processes one after another (SIGTERM). Returns the processes that did not end in time with code 0. */
  restartEach(): Promise<string[]>
  /** Resolves when all processes run. Throws the error of a process that failed to start in 20 tries. */
  whole(): Promise<void>
  stop(): Promise<void>
}

/** A process may end at its start if nodes or Temporal are unreachable, so the supervisor tries again. */
const tries = 20
const betweenTriesMs = 1000
/** `terminationGracePeriodSeconds` of the Helm chart: the maximum time that a process may need to end. */
const stopMs = 45_000

/** Resolves when all processes are ready. Throws the error of a process that failed to start in 20 tries. */
export async function startFleet(
  devnet: Devnet,
  processes: readonly FleetProcess[],
  wait: (ms: number) => Promise<void>,
  isSpared: (name: string) => boolean = () => false,
): Promise<Fleet> {
  const fleet = new SupervisedFleet(devnet, processes, wait, isSpared)
  try {
    await fleet.start()
    return fleet
  } catch (error) {
    await fleet.stop()
    throw error
  }
}

/**
 * Processes with all roles. Every second process broadcasts only through the lanes' queues, so that both forms of
 * broadcast occur on each lane.
 */
export function allRoles(count: number): FleetProcess[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `portage-${index + 1}`,
    configure: (config) => withBroadcast(config, index % 2 === 0 ? 'auto' : 'queue'),
  }))
}

/**
 * Processes that hold the keys, alternating with processes that do everything else. There is at least one process of
 * each kind.
 */
export function keylessAndKeys(count: number): FleetProcess[] {
  return Array.from({ length: Math.max(2, count) }, (_, index) => ({
    name: `portage-${index + 1}`,
    role: index % 2 === 0 ? ('lane' as const) : ('keyless' as const),
  }))
}

class SupervisedFleet implements Fleet {
  restarts = 0
  readonly byPid = new Map<number, string>()
  readonly processes: readonly FleetProcess[]
  readonly isSpared: (name: string) => boolean
  readonly #devnet: Devnet
  readonly #wait: (ms: number) => Promise<void>
  readonly #started: (PortageProcess | undefined)[]
  readonly #returning = new Set<Promise<void>>()
  readonly #frozen = new Set<PortageProcess>()
  readonly #doomed = new Set<PortageProcess>()
  #stopping = false

  constructor(
    devnet: Devnet,
    processes: readonly FleetProcess[],
    wait: (ms: number) => Promise<void>,
    isSpared: (name: string) => boolean,
  ) {
    this.isSpared = isSpared
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
    // The first process compiles the command line and the workflows. The other processes use the compiled files.
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
      // Another fault killed this process and will start it again.
      if (ended === undefined) continue
      if (ended !== 'ended with code 0') late.push(`${name} ${ended}`)
      await this.#startOne(index)
    }
    return late
  }

  async whole(): Promise<void> {
    // Further processes may end while others are started, so the wait is repeated.
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
    const running = this.#running.filter(([index]) => !this.isSpared(this.processes[index]?.name ?? ''))
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

  /** Sends SIGTERM. Returns how the process ended, or undefined if it did not run. */
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
          // A process that `#kill` or `#end` has ended is no longer in the list, and the caller of `#kill` or `#end`
          // starts it again.
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
    // A failed start stays in `#returning`, and `whole` throws its error.
    void back.then(
      () => this.#returning.delete(back),
      () => {},
    )
  }
}
