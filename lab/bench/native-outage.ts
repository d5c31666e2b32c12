import { loadavg } from 'node:os'
import { Client, Connection } from '@temporalio/client'
import { lastNumbers, watermarks } from '../demo/streams.ts'
import { startDevnet, type Devnet } from '../devnet/index.ts'
import type { SentNativeTransfer } from '../devnet/native/native-users.ts'
import { startPortage, type PortageProcess } from '../devnet/portage-process.ts'
import { until } from '../devnet/until.ts'
import { namedThreads, type ProcessUsage } from './cpu-meter.ts'
import { machineOf, type Machine } from './machine.ts'
import { rpcCallsByMethod } from './rpc-calls.ts'
import { round } from './statistics.ts'
import { startUseMeter } from './use-meter.ts'
import { verdictOf, type Verdict } from './verdict.ts'
import { workerName } from './yardsticks.ts'

export interface OutageOptions {
  readonly transfers: number
  readonly keys: number
  readonly batch?: number | undefined
  readonly maxOpen: number
}

export interface OutageResult extends OutageOptions, Verdict {
  readonly deliveringTransactions: number
  readonly gasPerTransaction: number
  /** Time from the start of the process until both streams have proved all numbers. */
  readonly seconds: number
  readonly transfersPerSecond: number
  /**
   * JSON-RPC calls. `perTransfer`: all calls of the run, per transfer. `perQuietBlock`: calls of the idle process, per
   * block of one chain.
   */
  readonly rpcCalls: { readonly perTransfer: number; readonly perQuietBlock: number }
  /** State transitions of the transfer's own workflow, and of all workflows including lanes, streams and batches. */
  readonly stateTransitionsPerTransfer: number
  readonly allStateTransitionsPerTransfer: number
  readonly historyEventsPerTransfer: number
  readonly cpuMs: Readonly<Record<string, number>>
  readonly rssPeakMiB: Readonly<Record<string, number>>
  readonly machine: Machine
}

const burst = 400
const quietMs = 20_000

/**
 * Initiates native transfers, half on each chain, and then starts Portage. Throws Error if they are not delivered
 * within half an hour.
 */
export async function nativeOutage(options: OutageOptions, say: (line: string) => void): Promise<OutageResult> {
  const { transfers, keys, batch, maxOpen } = options
  const bridge = { wormhole: false, native: 'fixed', batch, maxOpen, auditMinutes: 1 } as const
  const devnet = await startDevnet({ ...bridge, keysPerChain: keys, ui: false, log: say })
  try {
    const connection = await Connection.connect({ address: devnet.temporal.address })
    const client = new Client({ connection })
    const sent = await initiate(devnet, transfers, say)
    const load = loadavg()[0] ?? 0
    const started = Date.now()
    const portage = await startPortage(devnet, { env: namedThreads })
    const stopMeter = await startUseMeter(devnet, portage)
    try {
      await proved(client, sent, portage, say)
      const seconds = (Date.now() - started) / 1000
      const calls = await rpcCalls(portage)
      for (const [method, count] of await rpcCallsByMethod(portage)) say(`  ${method.padEnd(28)}${round(count / transfers)} per transfer`)
      const { usage } = await stopMeter()
      const each = (of: (one: ProcessUsage) => number) =>
        Object.fromEntries(Object.entries(usage).map(([name, one]) => [name === workerName ? 'relayer' : name, round(of(one))]))
      const perQuietBlock = await quietCalls(devnet, portage)
      const { nativeFindings, ...check } = await devnet.check(sent)
      return {
        ...options,
        ...verdictOf(check, transfers),
        deliveringTransactions: new Set(nativeFindings.flatMap(({ txHashes }) => txHashes)).size,
        gasPerTransaction: check.gasPerTransaction,
        seconds: round(seconds),
        transfersPerSecond: round(transfers / seconds),
        rpcCalls: { perTransfer: round(calls / transfers), perQuietBlock: round(perQuietBlock) },
        ...(await costs(client, transfers)),
        cpuMs: each(({ cpuMs }) => cpuMs / transfers),
        rssPeakMiB: each(({ rssPeakMiB }) => rssPeakMiB),
        machine: machineOf([load]),
      }
    } finally {
      await portage.stop(15_000)
      await connection.close()
    }
  } finally {
    await devnet.stop()
  }
}

async function initiate({ native }: Devnet, transfers: number, say: (line: string) => void): Promise<SentNativeTransfer[]> {
  if (!native) throw new Error('The devnet has no native bridge')
  const sent: SentNativeTransfer[] = []
  const perDirection = { ethereum: Math.ceil(transfers / 2), bsc: Math.floor(transfers / 2) }
  await Promise.all(
    (['ethereum', 'bsc'] as const).map(async (source) => {
      for (let left = perDirection[source]; left > 0; left -= burst) {
        const amounts = Array.from({ length: Math.min(burst, left) }, (_, index) => ({ amount: 1000n + BigInt(index) }))
        sent.push(...(await native.users[source].send(amounts)))
      }
    }),
  )
  say(`${sent.length} transfers initiated while Portage is down.`)
  return sent
}

async function proved(
  client: Client,
  sent: readonly SentNativeTransfer[],
  portage: PortageProcess,
  say: (line: string) => void,
): Promise<void> {
  const last = lastNumbers(sent)
  let progress = ''
  const look = async () => {
    const marks = new Map((await watermarks(client)).map((one) => [one.stream, one]))
    const line = [...last].map(([stream, number]) => `${stream} ${marks.get(stream)?.completedNonceHeight ?? '-'}/${number}`).join(', ')
    if (line !== progress) say(line)
    progress = line
    return [...last].every(([stream, number]) => BigInt(marks.get(stream)?.completedNonceHeight ?? 0) >= number)
  }
  await until(look, { timeoutMs: 1_800_000, everyMs: 1000, what: 'all transfers to be proved delivered', giveUp: () => portage.ended })
}

async function quietCalls({ chains }: Devnet, portage: PortageProcess): Promise<number> {
  const heights = async () =>
    (await Promise.all(Object.values(chains).map(({ anvil }) => anvil.rpc<string>('eth_blockNumber')))).reduce(
      (sum, height) => sum + Number(height),
      0,
    )
  const [callsBefore, blocksBefore] = [await rpcCalls(portage), await heights()]
  await new Promise((resolve) => setTimeout(resolve, quietMs))
  return ((await rpcCalls(portage)) - callsBefore) / Math.max(1, (await heights()) - blocksBefore)
}

async function rpcCalls(portage: PortageProcess): Promise<number> {
  return (await rpcCallsByMethod(portage)).reduce((sum, [, count]) => sum + count, 0)
}

async function costs(
  client: Client,
  count: number,
): Promise<Pick<OutageResult, 'stateTransitionsPerTransfer' | 'allStateTransitionsPerTransfer' | 'historyEventsPerTransfer'>> {
  let [own, all, events] = [0, 0, 0]
  for await (const { type, raw, historyLength, status, workflowId } of client.workflow.list({ query: '', pageSize: 1000 })) {
    // Temporal's list has the number of state transitions for closed workflows only.
    const counted = status.name === 'RUNNING' ? (await client.workflow.getHandle(workflowId).describe()).raw.workflowExecutionInfo : raw
    const transitions = Number(counted?.stateTransitionCount ?? 0)
    all += transitions
    if (type !== 'transfer') continue
    own += transitions
    events += historyLength
  }
  return {
    stateTransitionsPerTransfer: round(own / count),
    allStateTransitionsPerTransfer: round(all / count),
    historyEventsPerTransfer: round(events / count),
  }
}
