import { lane } from '../../workflows/lane.ts'
import { transfer } from '../../workflows/transfer/transfer.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { TransferStatus } from '../../temporal/contracts/transfer.ts'
import { laneWorkflowId, transferId } from '../../temporal/contracts/names.ts'
import { laneAddress, type LaneId } from '../../domain/lane/lane.ts'
import { startTransfer } from '../../temporal/client/transfers/start-transfer.ts'
import { chanceOf } from '../faults/random.ts'
import { keyOf, messageOf } from './bridge.ts'
import { Network } from './chain/network.ts'
import { Clock, world } from './clock.ts'
import type { Fault, Plan } from './plan.ts'
import { SimulatedProcess } from './process.ts'
import { Server } from './temporal/server.ts'
import { judge, statusOf, type Verdict } from './verdict.ts'
import { payloads, type RunInfo, type WorkflowFunction } from './temporal/machine.ts'

const localSteps = new Set(['admit', 'confirm', 'confirmEnd', 'getLaneStatus'])
const workflows = { transfer, lane } as unknown as Readonly<Record<string, WorkflowFunction>>

/** Maximum time without progress after the last fault, ms. A transfer may wait half an hour after reverts. */
const idleMs = 45 * 60_000
const mostDrainMs = 24 * 3_600_000
const checkMs = 5_000
const ordersInMs = 60_000
const mostSubmitters = 32

/** Workflows, steps, lanes and reducers are Portage's own. Chains, bridge and Temporal are simulated. */
export class Simulation {
  readonly #plan: Plan
  readonly #server: Server
  readonly #networks: readonly Network[]
  readonly #sent = new Map<string, Transfer>()
  readonly #waiting: Transfer[] = []
  #submitters = 0
  readonly #log: (line: string) => void
  #processes: SimulatedProcess[] = []
  #born = 0
  /** Transfers whose workflow ended too early, with the reason. */
  readonly #early = new Map<string, string>()
  readonly #cancelledBefore = new Set<string>()
  readonly #recorded = new Map<LaneId, number>()
  #resets = 0
  #isOver = false

  constructor(plan: Plan, log?: (line: string) => void) {
    world.clock = new Clock()
    world.chance = chanceOf(`run/${plan.seed}`)
    this.#plan = plan
    const timed = log && ((line: string) => log(`${(world.clock.now / 1_000).toFixed(3).padStart(10)} s  ${line}`))
    this.#log = timed ?? (() => {})
    this.#server = new Server({ workflows, localSteps, losses: plan.losses, log: timed })
    this.#networks = plan.chains.map((options) => new Network(options, timed))
    this.#server.onEnd = (info, result) => this.#onEnd(info, result)
  }

  async run(): Promise<Verdict> {
    const { clock } = world
    const { transfers, sendMs, processes, faults } = this.#plan
    for (const network of this.#networks) network.start()
    for (let count = 0; count < processes; count++) this.#begin()
    for (let number = 1; number <= transfers; number++) clock.after((sendMs * number) / transfers, () => this.#send(number))
    for (const fault of faults) clock.after(fault.at, () => this.#inflict(fault))
    const lastFault = Math.max(sendMs, ...faults.map(({ at, forMs }) => at + forMs))
    clock.after(lastFault + 1, () => this.#calm())
    let [settled, since] = [0, lastFault]
    const check = async () => {
      const now = this.#settled
      if (now !== settled || clock.now <= lastFault) [settled, since] = [now, Math.max(lastFault, clock.now)]
      this.#isOver = clock.now > lastFault && (clock.now - since > idleMs || (await this.#isQuiet()))
      if (!this.#isOver) clock.after(checkMs, check)
    }
    void check()
    await clock.run(lastFault + mostDrainMs, () => this.#isOver)
    return judge({
      ...{ sent: this.#sent, early: this.#early, cancelledBefore: this.#cancelledBefore, server: this.#server },
      ...{ networks: this.#networks, holes: await this.#holes() },
    })
  }

  #begin(): void {
    const { chains, view, kms, local, bumpAfterBlocks, updatesPerRun } = this.#plan
    const places = chains.map(({ lanes }, index) => ({ network: this.#networks[index] as Network, lanes }))
    this.#born += 1
    const process = new SimulatedProcess(this.#server, {
      ...{
        name: `process${this.#born}`,
        places,
        view,
        recorded: this.#recorded,
        kms,
        local,
        bumpAfterBlocks,
        updatesPerRun,
        log: this.#log,
      },
    })
    this.#processes.push(process)
    this.#server.workers.push(process)
  }

  #end(process: SimulatedProcess): void {
    process.kill()
    this.#processes = this.#processes.filter((one) => one !== process)
    this.#server.workers.splice(this.#server.workers.indexOf(process), 1)
    this.#server.onDeath(process)
  }

  #send(number: number): void {
    const { chains, orders } = this.#plan
    const target = chains[number % chains.length]?.name ?? ''
    const message = messageOf({ target, sequence: String(number) })
    this.#sent.set(transferId(message), message)
    this.#submit(message)
    const { chance, clock } = world
    if (chance.next() < orders)
      clock.after(chance.next() * ordersInMs, () => this.#order(message, chance.pick(['cancel', 'cancel', 'retry', 'expedite'])))
  }

  #order(message: Transfer, kind: 'cancel' | 'retry' | 'expedite'): void {
    this.#signal(transferId(message), kind)
  }

  #signal(workflowId: string, name: string): void {
    const isPlain = name === 'cancel' || name === 'retry' || name === 'expedite'
    const order = { by: 'operator', reason: 'simulated' }
    this.#server.signal(workflowId, name, [payloads.toPayload(isPlain ? order : { order })])
  }

  /** Submits messages in order, a few at a time, as the agents of streams do. */
  #submit(...messages: readonly Transfer[]): void {
    this.#waiting.push(...messages)
    while (this.#waiting.length > 0 && this.#submitters < mostSubmitters) {
      this.#submitters += 1
      void this.#submitWaiting().finally(() => (this.#submitters -= 1))
    }
  }

  async #submitWaiting(): Promise<void> {
    for (;;) {
      const message = this.#waiting.shift()
      if (!message) return
      await this.#untilStarted(message)
    }
  }

  async #untilStarted(message: Transfer): Promise<void> {
    while (!this.#isOver) {
      const [process] = world.chance.shuffle(this.#processes)
      if (process) {
        const started = startTransfer(process.client, transferId(message), { transfer: message }).catch(() => undefined)
        const answer = await Promise.race([started, world.clock.sleep(5_000)])
        if (answer) return
      } else await world.clock.sleep(1_000)
    }
  }

  #inflict({ kind, forMs, choice }: Fault): void {
    const { clock } = world
    this.#log(`fault: ${kind}`)
    const chosen = <T>(from: readonly T[]): T | undefined => from[Math.floor(choice * from.length)]
    const transfer = chosen([...this.#sent.values()])
    switch (kind) {
      case 'kill': {
        const process = chosen(this.#processes)
        if (!process) return
        this.#end(process)
        clock.after(forMs, () => this.#begin())
        return
      }
      case 'outage':
        this.#server.isDown = true
        clock.after(forMs, () => void (this.#server.isDown = false))
        return
      case 'jump':
        return clock.jump((choice - 0.5) * 600_000)
      case 'wipe':
        return this.#reset(() => this.#server.wipe())
      case 'restore':
        this.#server.backUp()
        clock.after(forMs, this.#restoring())
        return
      case 'cancel':
      case 'retry':
        if (transfer) this.#order(transfer, kind)
        return
      case 'pause': {
        const lane = chosen(this.#plan.chains.flatMap(({ lanes }) => lanes))?.lane ?? ''
        this.#signal(laneWorkflowId(lane), 'pause')
        clock.after(forMs, () => this.#signal(laneWorkflowId(lane), 'resume'))
        return
      }
      case 'forge':
        return this.#submit(
          messageOf({ target: this.#plan.chains[0]?.name ?? '', sequence: String(Math.floor(choice * 1e6)), isForged: true }),
        )
    }
  }

  /**
   * Returns a function that restores the backup. If Temporal was set back between the backup and its restore, a
   * transfer that the backup shows as cancelled may have been delivered since.
   */
  #restoring(): () => void {
    const before = this.#resets
    return () => {
      const ids = this.#resets > before ? [...this.#sent.keys()] : []
      this.#reset(() => this.#server.restore())
      for (const id of ids) if (statusOf(this.#server, id)?.state === 'cancelled') this.#cancelledBefore.add(id)
    }
  }

  /**
   * Sets Temporal back with `act`. 10 s later, submits every message again, as streams do when they read their sources
   * again.
   */
  #reset(act: () => void): void {
    act()
    this.#resets += 1
    this.#log('Temporal was set back; the sources are read again')
    world.clock.after(10_000, () => {
      this.#submit(...this.#sent.values())
    })
  }

  #calm(): void {
    this.#log('no more faults')
    this.#server.calm()
    for (const network of this.#networks) network.calm()
    for (const process of this.#processes) for (const view of process.views) view.calm()
    for (const { lanes } of this.#plan.chains) for (const { lane } of lanes) this.#signal(laneWorkflowId(lane), 'resume')
    this.#submit(...this.#sent.values())
  }

  /** Records a transfer whose workflow ended although a block or a fork could still change the outcome. */
  #onEnd({ workflowId, type }: RunInfo, result: string): void {
    const message = this.#sent.get(workflowId)
    if (type !== 'transfer' || !message) return
    const network = this.#networkOf(message)
    const { state } = JSON.parse(result) as TransferStatus
    const first = network.effects.get(keyOf(message))?.[0]
    if (state === 'delivered' && !(first && first.height <= network.finalized))
      this.#early.set(workflowId, 'delivered before its effect was final')
    if (state === 'cancelled' && (first ?? network.mayDeliver(keyOf(message))))
      this.#early.set(workflowId, 'cancelled while its call could be mined')
  }

  #networkOf({ targetChain }: Transfer): Network {
    return this.#networks.find(({ options }) => options.name === targetChain) as Network
  }

  async #isQuiet(): Promise<boolean> {
    const haveOutcomes = [...this.#sent.keys()].every((id) => this.#server.runs.get(id)?.result)
    return this.#sent.size === this.#plan.transfers && haveOutcomes && (await this.#holes()).length === 0
  }

  get #settled(): number {
    const ended = [...this.#sent.keys()].filter((id) => this.#server.runs.get(id)?.result).length
    const nonces = this.#plan.chains.flatMap(({ lanes }, index) => {
      const network = this.#networks[index] as Network
      return lanes.map(({ lane }) => network.nonceAt(laneAddress(lane), network.finalized))
    })
    return nonces.reduce((sum, nonce) => sum + nonce, ended)
  }

  /** Nonces that a ledger has granted, but that no final block has used. */
  async #holes(): Promise<string[]> {
    const holes: string[] = []
    for (const [index, { lanes }] of this.#plan.chains.entries()) {
      const network = this.#networks[index] as Network
      for (const { lane } of lanes) {
        const next = await this.#server.nextNonce(laneWorkflowId(lane))
        for (let nonce = network.nonceAt(laneAddress(lane), network.finalized); nonce < next; nonce++)
          holes.push(`nonce ${nonce} of ${lane} was granted and is not used`)
      }
    }
    return holes
  }
}
