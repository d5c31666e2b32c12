import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from '@temporalio/worker'
import { stringify } from 'yaml'
import { collectCauses } from '../../../operations/causes/collect.ts'
import type { Config } from '../../../config/schema/schema.ts'
import type { NotificationFilter, Receiver } from '../../../domain/notification/notification.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import type { NotifyTimes } from '../../../operations/notifications/notify-round.ts'
import { createLogger, type Logger, silentLogger } from '../../../observability/logger.ts'
import { createMetrics, type Metrics } from '../../../observability/metrics.ts'
import { startTransfer } from '../../../temporal/client/transfers/start-transfer.ts'
import { chainQueue, transferId } from '../../../temporal/contracts/names.ts'
import type { AdmitInput } from '../../../temporal/contracts/transfer-steps.ts'
import { workflowBundle } from '../../../workers/process/bundle.ts'
import { createNotificationWork } from '../../../workers/roles/notifications.ts'
import { defaultTuning } from '../../../workers/process/create-worker.ts'
import { deadConfig } from '../../api/setting.ts'
import { type Ledgers, startLedgers } from '../../lanes/setting.ts'
import { secretSource, testSecrets } from './receiver.ts'

/** Times that keep tests short. The jitter is the real one. */
export const shortTimes: NotifyTimes = {
  readMs: 50,
  conditionsMs: 200,
  fullReadMs: 500,
  settleMs: 2_000,
  roundMs: 400,
  schedule: { triesMs: Array<number>(9).fill(200), restsMs: [200] },
}

export const lane = `evm-1397:0x${'aa'.repeat(20)}`

export const testContent = { amount: '1500000', decimals: '6', token: `2/${'ab'.repeat(32)}`, recipient: `0x${'cd'.repeat(20)}` }
export const testShown = { ...testContent, tokenAmount: '1.5' }

/** A real Temporal in which a test controls the steps of the transfers. */
export interface NotificationSetting {
  readonly ledgers: Ledgers
  readonly config: Config
  readonly metrics: Metrics
  readonly logged: string[]
  /** Resolves with the id when the transfer is delivered, or parked if `parks` is set. */
  transfer(sequence: string, options?: { readonly sourceChain?: string; readonly parks?: true }): Promise<string>
  /** Serves the receivers' notifiers until the returned function is called. */
  serve(receivers: readonly Receiver[], times?: Partial<NotifyTimes>): Promise<() => Promise<void>>
  stop(): Promise<void>
}

export function receiverAt(name: string, url: string, filter: NotificationFilter, ...secrets: string[]): Receiver {
  return { name, url, filter, secrets: (secrets.length > 0 ? secrets : [testSecrets.first]).map(secretSource) }
}

export async function startNotificationSetting(): Promise<NotificationSetting> {
  const ledgers = await startLedgers({ tuning: { stickyMs: 200 } })
  const { temporal } = ledgers
  const { client, connection } = temporal
  const parked = new Set<string>()
  const chains = deadConfig(9)
  const bsc = { ...chains.chains['bsc']!, lanes: [{ address: lane.slice(lane.indexOf('0x')), window: 1, broadcast: 'auto' as const }] }
  const config: Config = { ...chains, chains: { ...chains.chains, bsc } }
  const worker = await Worker.create({
    ...{ connection, taskQueue: chainQueue('bsc') },
    workflowBundle: await workflowBundle(silentLogger()),
    activities: {
      admit: async ({ transfer: { sequence } }: AdmitInput) => {
        if (parked.has(sequence)) return { kind: 'impossible', code: 'DELIVERY_IMPOSSIBLE', reason: 'it reverts' }
        const txHash = `0x${sequence.padStart(64, '0')}`
        return { kind: 'delivered', delivery: { ours: true, by: '0xab', txHash, blockHeight: 9, blockHash: '0x09' } }
      },
    },
  })
  const running = worker.run()
  const logged: string[] = []
  const logger: Logger = createLogger({ level: 'debug', destination: { write: (line) => void logged.push(line) } })
  const metrics = createMetrics()
  return {
    ...{ ledgers, config, metrics, logged },
    async transfer(sequence, { sourceChain = 'ethereum', parks } = {}) {
      const digest = `0x${sequence.padStart(64, '0')}`
      const one: Transfer = {
        bridge: 'wormhole-token-bridge',
        sourceChain,
        sourceId: sourceChain,
        targetChain: 'bsc',
        emitter: '00'.repeat(32),
        sequence,
        digest,
        message: 'b3du',
      }
      const id = transferId(one)
      if (parks) parked.add(sequence)
      await startTransfer(client, id, { transfer: one }, testContent)
      if (!parks) await client.workflow.getHandle(id).result()
      return id
    },
    async serve(receivers, times = {}) {
      const byName = new Map(receivers.map((one) => [one.name, one]))
      const hosting = { temporal, tuning: { ...defaultTuning, graceMs: 0 } }
      const options = { receivers: byName, times: { ...shortTimes, ...times }, gapAgeMs: 0, keepMs: 100 }
      const work = await createNotificationWork({ config, client, logger, metrics }, hosting, options)
      const served = work.worker.run()
      return async () => {
        work.worker.shutdown()
        for (const service of work.services) await service.stop()
        await served
      }
    },
    async stop() {
      worker.shutdown()
      await running
      await ledgers.stop()
    },
  }
}

/** Writes a config for processes of the role ledger, the API and the command line. */
export async function writeReceiverConfig(
  on: NotificationSetting,
  folder: string,
  { name, url }: { readonly name: string; readonly url: string },
) {
  await writeFile(join(folder, 'secret'), testSecrets.first)
  const file = join(folder, 'portage.yaml')
  const notifications = [{ name, url, secrets: [{ secretFile: 'secret' }], events: ['transfer.delivered' as const] }]
  const config = {
    ...JSON.parse(JSON.stringify({ chains: on.config.chains, bridges: on.config.bridges })),
    dataFolder: 'data',
    temporal: { address: on.ledgers.server.address, useEnvironment: false },
    worker: { heartbeatSeconds: 1, stickySeconds: 0.2, workflowTaskSeconds: 1, shutdownGraceSeconds: 0 },
    notifications,
  }
  await writeFile(file, stringify(config))
  return { file, folder, notifications }
}

export async function causeOf({ config, ledgers }: NotificationSetting, name: string, url: string) {
  const notifications = [{ name, url, secrets: [{ secretFile: 'none' }], events: ['transfer.delivered' as const] }]
  const { causes } = await collectCauses(ledgers.temporal.client, { config: { ...config, notifications }, environment: {} })
  return causes.find(({ where }) => where.kind === 'receiver')
}
