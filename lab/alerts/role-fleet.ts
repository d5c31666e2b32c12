import type { Devnet } from '../devnet/index.ts'
import { type PortageOptions, type PortageProcess, startPortage } from '../devnet/portage-process.ts'

export class RoleFleet {
  readonly #devnet: Devnet
  readonly #configure: PortageOptions['configure']
  readonly #running = new Map<string, PortageProcess>()
  readonly #onChange: (adminAddresses: readonly string[]) => Promise<void>

  /**
   * @param onChange called with the addresses of all admin ports after processes have started or a process was killed
   */
  constructor(devnet: Devnet, configure: PortageOptions['configure'], onChange: (adminAddresses: readonly string[]) => Promise<void>) {
    this.#devnet = devnet
    this.#configure = configure
    this.#onChange = onChange
  }

  /** Starts the processes that were killed or never started. Throws Error if a process does not become ready. */
  async whole(): Promise<void> {
    const missing = [...this.#all()].filter(([name]) => !this.#running.has(name))
    await Promise.all(
      missing.map(async ([name, options]) => {
        const started = await startPortage(this.#devnet, { ...options, name, ...(this.#configure && { configure: this.#configure }) })
        this.#running.set(name, started)
      }),
    )
    await this.#changed()
  }

  /**
   * Kills a process with SIGKILL. `name`: such as `ledger`, or `lane-` followed by the key's number. Throws Error for
   * an unknown name or a process that was killed before.
   */
  async kill(name: string): Promise<void> {
    const victim = this.#running.get(name)
    if (!victim) throw new Error(`there is no ${name}: ${[...this.#running.keys()].join(', ')}`)
    this.#running.delete(name)
    victim.kill('SIGKILL')
    await victim.exited
    await this.#changed()
  }

  get processes(): ReadonlyMap<string, PortageProcess> {
    return this.#running
  }

  /** Processes that ended without `kill` or `stop`: name and exit code or signal. */
  get ended(): readonly string[] {
    return [...this.#running].flatMap(([name, one]) => (one.ended === undefined ? [] : [`${name} ${one.ended}`]))
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map((one) => one.stop(15_000)))
    this.#running.clear()
  }

  #changed(): Promise<void> {
    return this.#onChange([...this.#running.values()].map(({ adminUrl }) => new URL(adminUrl).host))
  }

  *#all(): Generator<[name: string, options: PortageOptions]> {
    for (const chain of Object.keys(this.#devnet.chains)) yield [`chain-${chain}`, { role: 'chain', args: ['--chain', chain] }]
    for (const [index, { chain, address }] of this.#devnet.lanes.entries())
      yield [`lane-${index}`, { role: 'lane', args: ['--chain', chain, '--lane', address] }]
    for (const role of ['ledger', 'intake', 'api'] as const) yield [role, { role }]
  }
}
