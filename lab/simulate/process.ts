import { createChainSteps, createLaneSteps } from '../../activities/index.ts'
import type { AdmittedCall, LocalLane } from '../../activities/deps.ts'
import { createLocalLane } from '../../activities/transfer/broadcast.ts'
import type { Bridges } from '../../bridges/port.ts'
import type { Chain } from '../../chains/port.ts'
import type { Signer } from '../../chains/signing-port.ts'
import { createFeePolicyResolver } from '../../domain/fees/fees.ts'
import type { LaneConfig, LaneId } from '../../domain/lane/lane.ts'
import { laneAddress } from '../../domain/lane/lane.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { LaneAgent } from '../../lanes/agent.ts'
import { createKeylessRequests } from '../../lanes/ledger/keyless-requests.ts'
import { LedgerClient } from '../../lanes/ledger/ledger-client.ts'
import { createLaneStatusCache } from '../../lanes/ledger/open-lanes.ts'
import { StepSlots } from '../../lanes/step-slots.ts'
import type { Logger } from '../../observability/logger.ts'
import { createMetrics } from '../../observability/metrics.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { chainQueue, laneQueue, ledgerQueue } from '../../temporal/contracts/names.ts'
import { bridgeName, createBridge } from './bridge.ts'
import { fold, type Network } from './chain/network.ts'
import { ChainView, type ViewOptions } from './chain/view.ts'
import { createClient } from './temporal/client.ts'
import type { Worker } from './temporal/host.ts'
import type { Server } from './temporal/server.ts'

export interface Place {
  readonly network: Network
  readonly lanes: readonly LaneConfig[]
}

export interface ProcessOptions {
  readonly name: string
  readonly places: readonly Place[]
  readonly view: ViewOptions
  /** Highest signed nonce of each lane. All processes share this map, which outlives them, as a data folder does. */
  readonly recorded: Map<LaneId, number>
  /**
   * Whether keys sign like a KMS: two signatures of one transaction differ, so two processes send it under different
   * hashes.
   */
  readonly kms: boolean
  readonly bumpAfterBlocks: number
  readonly updatesPerRun: number
  /** Whether local broadcasts are allowed: the process that admitted a transfer may then broadcast its call. */
  readonly local: boolean
  readonly log: (line: string) => void
}

type Step = (input: never) => Promise<unknown>
type Steps = Readonly<Record<string, Step>>

const slotsPerNonce = 2

/** A process of Portage with all roles: the real agents and steps, on simulated chains and a simulated Temporal. */
export class SimulatedProcess implements Worker {
  readonly name: string
  alive = true
  readonly client: TemporalClient
  readonly views: ChainView[] = []
  readonly #queues = new Map<string, Steps>()
  readonly #agents: LaneAgent[] = []
  readonly #logger: Logger

  constructor(server: Server, options: ProcessOptions) {
    this.name = options.name
    this.client = createClient(server, this)
    this.#logger = createLogger(options)
    const places = options.places.map((place) => ({ ...place, view: new ChainView(place.network, this, options.view) }))
    const bridges: Bridges = new Map([[bridgeName, createBridge(places)]])
    for (const { network, lanes, view } of places) {
      this.views.push(view)
      view.start()
      this.#serve(options, bridges, { chain: view.chain, name: network.options.name, lanes })
    }
  }

  /** Kills the process at this moment. Its pending calls never return. */
  kill(): void {
    this.alive = false
    for (const agent of this.#agents) agent.stop()
  }

  polls(queue: string, kind: 'workflow' | 'activity'): boolean {
    if (kind === 'workflow') return queue === ledgerQueue || queue.startsWith(chainQueue(''))
    return this.#queues.has(queue)
  }

  stepOf(queue: string, type: string): (input: unknown) => Promise<unknown> {
    const step = this.#queues.get(queue)?.[type]
    if (!step) throw new Error(`${this.name} has no step ${type} for ${queue}`)
    return step as (input: unknown) => Promise<unknown>
  }

  #serve(options: ProcessOptions, bridges: Bridges, place: { chain: Chain; name: string; lanes: readonly LaneConfig[] }): void {
    const { chain, name, lanes } = place
    const { client } = this
    const logger = this.#logger
    const configs = new Map(lanes.map((config) => [config.lane, config]))
    const fees = createFeePolicyResolver({ rules: [], maxGas: 2_000_000, gasFactors: new Map() }, () => ({ fees: [] }))
    const settings = () => noSettings
    const localLanes = new Map<LaneId, LocalLane>()
    for (const config of lanes) {
      const ledger = new LedgerClient({ client, config, logger, updatesPerRun: options.updatesPerRun })
      const signer = createSigner(config.lane, options)
      const agent = new LaneAgent({
        chain,
        signer,
        signedBelow: async () => options.recorded.get(config.lane),
        ledger,
        logger,
        config,
        bumpAfterBlocks: options.bumpAfterBlocks,
        fees,
      })
      this.#agents.push(agent)
      agent.start()
      const deps = { bridges, chain, settings, fees, agent, slots: new StepSlots<AdmittedCall>(config.window * slotsPerNonce) }
      this.#queues.set(laneQueue(config.lane), createLaneSteps(deps) as unknown as Steps)
      if (options.local) localLanes.set(config.lane, createLocalLane(deps))
    }
    const steps = createChainSteps({
      ...{ bridges, chains: new Map([[name, chain]]), lanes: new Map([[name, createLaneStatusCache(client, [...configs.keys()])]]) },
      ...{ settings, fees, localLanes, abandonAfterMs: 10 * 60_000 },
      ...createKeylessRequests(client, configs, false),
      ...{ client, logger, metrics: createMetrics() },
    })
    this.#queues.set(chainQueue(name), steps as unknown as Steps)
  }
}

function createSigner(lane: LaneId, { kms, name, recorded }: ProcessOptions): Signer {
  const address = laneAddress(lane)
  return {
    address,
    async sign(transaction) {
      recorded.set(lane, Math.max(transaction.nonce, recorded.get(lane) ?? 0))
      const signed = JSON.stringify(transaction)
      const signingHash = `0x${fold(`${address}/${signed}`)}`
      const hash = kms ? `0x${fold(`${signingHash}/${name}`)}` : signingHash
      const { nonce, to, data, value, gasLimit, maxFee, tip } = transaction
      const fees = { gasLimit: Number(gasLimit), maxFee: Number(maxFee), tip: Number(tip) }
      return { raw: JSON.stringify({ hash, signingHash, from: address, nonce, to, data, value, ...fees }), hash, signingHash }
    },
  }
}

function createLogger({ name, log }: ProcessOptions): Logger {
  const line =
    (level: string) =>
    (message: string, fields: object = {}) =>
      log(`${name} ${level} ${message} ${JSON.stringify(fields)}`)
  const silent = () => {}
  const logger: Logger = { debug: silent, info: silent, warn: line('warns:'), error: line('error:'), child: () => logger }
  return logger
}
