import type { Signer } from '../../chains/signing-port.ts'
import { createBatchRouting, type BatchRouting } from '../../activities/batch/batch-routing.ts'
import type { BatchAnswer, BatchCandidate } from '../../activities/batch/build-batch.ts'
import { createLaneSteps } from '../../activities/index.ts'
import type { NativeEndpoint } from '../../bridges/native-bridge/evm.ts'
import type { Bridge, Bridges } from '../../bridges/port.ts'
import { until } from '../../lab/devnet/until.ts'
import { type LaneConfig, laneId, type Intent } from '../../domain/lane/lane.ts'
import { noSettings, type Settings } from '../../domain/settings/settings.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { LaneAgent } from '../../lanes/agent.ts'
import { BatchTracker } from '../../lanes/batch/batch-tracker.ts'
import { silentLogger } from '../../observability/logger.ts'
import { laneQueue, transferId } from '../../temporal/contracts/names.ts'
import { createNativeBridge, type NativeBridgeNetwork, startNativeBridge } from '../helpers/native-bridge.ts'
import { type Ledgers, startLedgers } from './setting.ts'
import { Worker } from '@temporalio/worker'

const logger = silentLogger()

export interface LaneProcess {
  readonly agent: LaneAgent
  readonly batches: BatchTracker
  readonly routing: BatchRouting
  readonly bridge: Bridge
  readonly endpoint: NativeEndpoint
  /** Enqueues the transfers after two others, because the first two transfers of a period leave without a batch. */
  enqueueAll(transfers: readonly Transfer[]): Promise<BatchAnswer[]>
  serve(): Promise<() => Promise<void>>
}

/** A native bridge whose blocks a test mines, and a lane on its target with a real ledger. */
export interface BatchSetting {
  readonly network: NativeBridgeNetwork
  readonly ledgers: Ledgers
  readonly config: LaneConfig
  process(settings?: () => Settings, signer?: Signer): Promise<LaneProcess>
  stop(): Promise<void>
}

export function candidateOf(transfer: Transfer): Omit<BatchCandidate, 'intent' | 'parties'> {
  const first = { kind: 'call', gasLimit: '1000000', maxFee: '10000000000', tip: '1000000000' } as const
  return { intentId: `${transferId(transfer)}/1`, transfer, first, priority: 3, source: 'source', trustedMs: 12_000 }
}

export async function startBatchSetting(): Promise<BatchSetting> {
  const [network, ledgers] = await Promise.all([startNativeBridge('fixed'), startLedgers()])
  const config = { lane: laneId('evm', 1397, network.relayer.address), window: 16, fillAfterBlocks: 50 }
  const [any] = (await network.transfers(1n)) as [Transfer]
  const { chain } = network.target
  const { client, connection, namespace } = ledgers.temporal
  const processes: LaneProcess[] = []
  return {
    network,
    ledgers,
    config,
    async process(settings = () => noSettings, signer = network.relayer) {
      const { bridge, endpoint } = createNativeBridge(network, { batch: 20 })
      const bridges: Bridges = new Map([[bridge.name, bridge]])
      const agent = new LaneAgent({
        chain,
        signer,
        signedBelow: async () => undefined,
        ledger: ledgers.client(config),
        logger,
        config,
        bumpAfterBlocks: 3,
      })
      agent.start()
      await until(() => agent.view?.synced, { timeoutMs: 60_000, everyMs: 20, what: 'the lane to be synced' })
      const batches = new BatchTracker({ client, agent, logger })
      const steps = { bridges, chain, settings, fees: () => ({}) }
      const routing = createBatchRouting({ ...steps, agent, batches, fullBatchMs: 1_000 })
      const enqueue = (transfer: Transfer, intent: Intent) =>
        routing.enqueue({ ...candidateOf(transfer), parties: endpoint.delivery(transfer).parties, intent }, endpoint, {
          timeoutMs: 60_000,
          signal: new AbortController().signal,
        })
      const started: LaneProcess = {
        agent,
        batches,
        routing,
        bridge,
        endpoint,
        async enqueueAll(transfers) {
          const anyIntent = await endpoint.delivery(any).call()
          const intents = await Promise.all(transfers.map((transfer) => endpoint.delivery(transfer).call()))
          for (let index = 0; index < 2; index++) {
            const { kind } = await enqueue(any, anyIntent)
            if (kind !== 'alone') throw new Error(`The period is not new: ${kind}`)
          }
          return Promise.all(transfers.map((transfer, index) => enqueue(transfer, intents[index]!)))
        },
        async serve() {
          const activities = createLaneSteps({
            ...steps,
            agent,
            batchRouting: routing,
          })
          const worker = await Worker.create({ connection, namespace, taskQueue: laneQueue(config.lane), activities, shutdownGraceTime: 0 })
          const running = worker.run()
          return async () => {
            worker.shutdown()
            await running
          }
        },
      }
      processes.push(started)
      return started
    },
    async stop() {
      for (const { agent } of processes) agent.stop()
      await network.stop()
      await ledgers.stop()
    },
  }
}
