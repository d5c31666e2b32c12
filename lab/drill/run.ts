import { Client, Connection } from '@temporalio/client'
import { sendWish, wishOf } from '../demo/load.ts'
import type { Devnet } from '../devnet/index.ts'
import { type PortageProcess, startPortage } from '../devnet/portage-process.ts'
import { withBroadcast } from '../devnet/relayer-config.ts'
import type { DatabaseCopy } from '../devnet/temporal/temporal.ts'
import { until } from '../devnet/until.ts'
import { drain } from '../faults/drain.ts'
import type { ChainKey } from '../faults/fault-targets.ts'
import { readLogs } from '../faults/logs.ts'
import type { DrillOptions } from './options.ts'
import { pay, portage, setSpareLane } from './orders.ts'
import { goOn, stopBlocks, untilEmpty, untilInPool } from './pool.ts'
import { type DrillScene, withTreasury } from './scene.ts'
import { allPaid, type DrillSummary, type DrillTimes, judge } from './summary.ts'
import { pause } from '../../runtime/wait.ts'

/** The second key of each chain makes the operators' payments. `finalized` lags the head by two blocks. */
export const drillDevnet = { keysPerChain: 2, blockTimeSeconds: 1, native: 'fixed', auditMinutes: 0.1, transferAuditMinutes: 0.5 } as const

const both: readonly ChainKey[] = ['ethereum', 'bsc']
const parts = 6
/** Maximum number of signed transactions for which the drill waits. Far below a lane's window. */
const mostAwaited = 16

/** Runs one drill on a devnet whose Temporal has no namespace yet. Leaves the devnet running. */
export async function runDrill(given: Devnet, options: DrillOptions, say: (line: string) => void): Promise<DrillSummary> {
  const devnet = withTreasury(given)
  const started = Date.now()
  const seconds: DrillTimes = { dump: 0, restore: 0, recovery: 0, all: 0 }
  const processes: PortageProcess[] = []
  let connection: Connection | undefined
  const connect = async () => {
    await connection?.close()
    connection = await Connection.connect({ address: devnet.temporal.address })
    return new Client({ connection })
  }
  try {
    await portage(devnet, ['setup', 'temporal'])
    const scene: DrillScene = { devnet, client: await connect(), sent: [], payments: [], say, wait: pause }
    processes.push(...(await startAll(devnet)))
    const send = senderOf(scene, options.transfers)

    const copy = await beforeLoss(scene, send, seconds)
    await lose(scene, processes, send)
    const lostAt = Date.now()
    await devnet.temporal.restartFrom(options.case === 'nothing' ? 'nothing' : copy)
    await portage(devnet, ['setup', 'temporal'])
    seconds.restore = secondsSince(lostAt)
    say(`Temporal serves again, from ${options.case === 'nothing' ? 'nothing' : 'the dump'}.`)

    const restoredAt = Date.now()
    processes.push(...(await startAll(devnet)))
    await goOn(devnet, 'bsc')
    // The spare lanes were paused in the dump, so they are activated again.
    for (const chain of both) await setSpareLane(scene, 'activate', chain)
    const restored = { ...scene, client: await connect() }
    await send(both)
    const remains = await drain(restored, options.stuckAfter * 1000)
    const unpaid = options.case === 'dump' ? await untilOrdersEnd(restored) : []
    seconds.recovery = secondsSince(restoredAt)
    seconds.all = secondsSince(started)
    const logs = await readLogs(devnet, lostAt)
    return await judge(restored, {
      case: options.case,
      remains: { ...remains, transfers: [...remains.transfers, ...unpaid] },
      logs,
      seconds,
    })
  } finally {
    await Promise.all(processes.map((one) => one.stop(15_000)))
    await connection?.close()
  }
}

async function beforeLoss(scene: DrillScene, send: Send, seconds: DrillTimes): Promise<DatabaseCopy> {
  const { devnet, say } = scene
  await pay(scene, 'bsc', 'made before the dump')
  await send(both)
  await untilDelivered(scene)
  await untilPaid(scene)
  say('The first transfers are delivered.')

  // Both payments wait in the dump. Later, the payment on ethereum is mined, and the payment on bsc is in the pool when
  // the database is lost.
  for (const chain of both) await setSpareLane(scene, 'pause', chain)
  await stopBlocks(devnet, 'bsc')
  await pay(scene, 'ethereum', 'waiting in the dump, made after it')
  await pay(scene, 'bsc', 'waiting in the dump, signed after it')
  const arriving = await send(['ethereum'])
  await untilInPool(devnet, 'bsc', Math.min(Math.ceil(arriving / 2), mostAwaited))
  const dumpedAt = Date.now()
  const copy = await devnet.temporal.copy()
  seconds.dump = secondsSince(dumpedAt)
  say(`The dump is written, with signed transactions in the pool of bsc; the work goes on.`)

  await goOn(devnet, 'bsc')
  await setSpareLane(scene, 'activate', 'ethereum')
  await send(both)
  await untilDelivered(scene)
  const ofEthereum = scene.payments.filter(({ chain }) => chain === 'ethereum')
  await until(() => allPaid({ ...scene, payments: ofEthereum }), {
    ...{ timeoutMs: 120_000, everyMs: 250, what: 'the payment that waited in the dump to be made' },
  })
  await untilEmpty(devnet, 'bsc')
  return copy
}

async function lose(scene: DrillScene, processes: PortageProcess[], send: Send): Promise<void> {
  const { devnet, say } = scene
  await stopBlocks(devnet, 'bsc')
  await setSpareLane(scene, 'activate', 'bsc')
  const arriving = await send(['ethereum'])
  await untilInPool(devnet, 'bsc', Math.min(arriving, mostAwaited) + 1)
  for (const one of processes) one.kill('SIGKILL')
  await Promise.all(processes.map(({ exited }) => exited))
  processes.length = 0
  await devnet.temporal.kill('SIGKILL')
  say('Portage and Temporal are killed, with signed transactions in the pool of bsc. Users go on.')
  await send(['ethereum'])
}

type Send = (sources: readonly ChainKey[]) => Promise<number>

function senderOf({ devnet, sent }: DrillScene, transfers: number): Send {
  const next = { ethereum: 0, bsc: 1 }
  let part = 0
  return async (sources) => {
    part += 1
    const size = Math.floor((part * transfers) / parts) - Math.floor(((part - 1) * transfers) / parts)
    const share = (index: number) => Math.floor((size + sources.length - 1 - index) / sources.length)
    await Promise.all(
      sources.map(async (source, index) => {
        const indexes = Array.from({ length: share(index) }, (_, place) => next[source] + 2 * place)
        next[source] += 2 * indexes.length
        sent.push(...(await sendWish(devnet, source, wishOf('both', indexes))))
      }),
    )
    return size
  }
}

/** Starts two processes: one makes local broadcasts where possible (`auto`), the other uses only the lane's queue. */
function startAll(devnet: Devnet): Promise<PortageProcess[]> {
  const forms = ['auto', 'queue'] as const
  const start = (form: (typeof forms)[number], index: number) =>
    startPortage(devnet, { name: `portage-${index + 1}`, configure: (config) => withBroadcast(config, form) })
  return Promise.all(forms.map(start))
}

async function untilDelivered({ devnet, sent }: DrillScene): Promise<void> {
  const arrived = async () => (await devnet.check(sent)).lost === 0
  await until(arrived, { timeoutMs: 180_000, everyMs: 500, what: 'the transfers to be delivered' })
}

async function untilPaid(scene: DrillScene): Promise<void> {
  await until(() => allPaid(scene), { timeoutMs: 60_000, everyMs: 500, what: 'the payments to be made' })
}

/** Waits for the end of all operator transactions, up to a time limit. Returns the ids of those that are still open. */
async function untilOrdersEnd({ client }: DrillScene): Promise<string[]> {
  const left = async () => {
    const ids: string[] = []
    for await (const { workflowId } of client.workflow.list({
      query: `WorkflowType = 'operatorTransaction' AND ExecutionStatus = 'Running'`,
    }))
      ids.push(workflowId)
    return ids
  }
  const over = async () => (await left()).length === 0
  await until(over, { timeoutMs: 90_000, everyMs: 500, what: "the operators' transactions to end" }).catch(() => undefined)
  return left()
}

function secondsSince(at: number): number {
  return Math.round((Date.now() - at) / 100) / 10
}
