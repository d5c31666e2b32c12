import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { type Child, startChild } from '../../devnet/child.ts'
import type { Devnet } from '../../devnet/index.ts'
import { startPortage } from '../../devnet/portage-process.ts'
import { accepts, freePort } from '../../devnet/ports.ts'
import { until } from '../../devnet/until.ts'
import { namedThreads } from '../cpu-meter.ts'
import { withForm } from '../form.ts'
import { type EngineForm, type PeerSettings, settingsOf } from './settings.ts'

export interface Store {
  /** Processes that keep the relayer's state. */
  readonly pids: readonly number[]
  /** Starts the relayer. May be called again after the relayer has ended. */
  start(): Promise<Child>
  /** Resolves when the relayer has nothing left to do after the last of `count` deliveries. */
  settle(count: number): Promise<unknown>
  stop(): Promise<void>
}

export interface Contender {
  readonly name: string
  /**
   * Share of the transfers that this contender gets. Below 1 if the contender would need many minutes for all
   * transfers.
   */
  readonly share: number
  open(devnet: Devnet): Promise<Store>
}

/** Time that a process needs to see that its last transaction is in a block, ms. */
const settleMs = 3_000

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

export function portage(): Contender {
  return { name: 'Portage', share: 1, open: openPortage }
}

async function openPortage(devnet: Devnet): Promise<Store> {
  const { address, pid } = devnet.temporal
  const connection = await Connection.connect({ address })
  const client = new Client({ connection })
  const closed = async (count: number) =>
    (await client.workflow.count("WorkflowType = 'transfer' AND ExecutionStatus != 'Running'")).count >= count
  return {
    pids: [pid],
    start: () => startPortage(devnet, { configure: (config) => withForm(config, 'auto'), env: namedThreads }),
    settle: (count) => until(() => closed(count), { timeoutMs: 120_000, everyMs: 500, what: `${count} transfers to close` }),
    stop: () => connection.close(),
  }
}

const rawApp = fileURLToPath(new URL('./raw-app.ts', import.meta.url))
const engineApp = fileURLToPath(new URL('./engine-app.cjs', import.meta.url))

function startApp(settings: PeerSettings, args: readonly string[]): Promise<Child> {
  return startChild(process.execPath, args, { env: { ...process.env, ...namedThreads, PEER_SETTINGS: JSON.stringify(settings) } })
}

export function rawSender(): Contender {
  return {
    name: 'raw sender',
    share: 1,
    open: (devnet) =>
      Promise.resolve({
        pids: [],
        start: () => startApp(settingsOf(devnet), ['--import', 'tsx', rawApp]),
        settle: () => pause(settleMs),
        stop: () => Promise.resolve(),
      }),
  }
}

export interface EnginePrograms {
  readonly folder: string
  readonly redis: string
}

export function relayerEngine(form: EngineForm, { folder, redis }: EnginePrograms): Contender {
  return {
    name: `relayer-engine, ${form}`,
    share: form === 'documented' ? 0.05 : 1,
    async open(devnet) {
      const redisPort = await freePort()
      const place = ['--port', String(redisPort), '--bind', '127.0.0.1', '--dir', devnet.dir]
      const server = await startChild(redis, place)
      try {
        const giveUp = () => server.ended && `${server.ended}: ${server.tail()}`
        await until(() => accepts(redisPort), { timeoutMs: 30_000, what: 'Redis to answer', giveUp })
      } catch (error) {
        await server.stop()
        throw error
      }
      const settings = { ...settingsOf(devnet), engine: { folder, redisPort, form } }
      return {
        pids: [server.pid],
        start: () => startApp(settings, [engineApp]),
        settle: () => pause(settleMs),
        stop: () => server.stop(),
      }
    },
  }
}
