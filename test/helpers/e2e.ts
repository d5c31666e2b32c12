import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { type Client, Connection } from '@temporalio/client'
import { type Devnet, type DevnetOptions, startDevnet } from '../../lab/devnet/index.ts'
import { quickTakeover } from '../../lab/devnet/relayer-config.ts'
import { type PortageOptions, type PortageProcess, startPortage } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import type { SentTransfer, UserTransfer } from '../../lab/devnet/wormhole/users.ts'
import { type LaneState, laneId } from '../../domain/lane/lane.ts'
import type { TransferState } from '../../domain/transfer/transfer.ts'
import type { PayloadEncryption } from '../../domain/temporal-access.ts'
import { streamNames } from '../../bridges/configured-emitters.ts'
import { configSchema } from '../../config/schema/schema.ts'
import { createTemporalClient } from '../../temporal/client/connection/connect.ts'
import { retries } from '../../temporal/client/connection/probe.ts'
import { createEncryptionCodec } from '../../temporal/encryption/codec.ts'
import type { TransferStatus } from '../../temporal/contracts/transfer.ts'
import { laneWorkflowId, transferId } from '../../temporal/contracts/names.ts'
import { alive } from './alive.ts'
import { runTemporalCli, type CliAnswer } from './e2e-cli.ts'

export type ChainKey = 'ethereum' | 'bsc'

/** Maximum time for a process to end, ms: ten times the time that it needs on an idle machine. */
const stopMs = 60_000

export interface Sent extends SentTransfer {
  readonly id: string
}

export interface Stage {
  readonly devnet: Devnet
  readonly client: Client
  readonly sent: readonly Sent[]
  /** Starts a Portage process. Its default role is `all`. `close()` stops it. */
  portage(options?: PortageOptions): Promise<PortageProcess>
  /** Kills a Portage process (SIGKILL) or lets it shut down (SIGTERM). `close()` does not report this end. */
  end(process: PortageProcess, signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>
  /** Kills all running processes, so that a failed test leaves no process to the next test. */
  killAll(): Promise<void>
  /** Sends users' transfers. Resolves when the guardian has signed all of them. */
  send(source: ChainKey, transfers: readonly UserTransfer[]): Promise<Sent[]>
  /** Adds the workflow ids to transfers. Resolves when the guardian has signed them. Does not add them to `sent`. */
  identify(transfers: readonly SentTransfer[]): Promise<Sent[]>
  vaa(sent: Sent): Promise<Uint8Array>
  submit(portage: PortageProcess, vaa: Uint8Array): Promise<{ status: number; body: Record<string, unknown> }>
  /** The result of a closed workflow, or the answer of a running one. Throws if it failed or was terminated. */
  status(id: string): Promise<TransferStatus>
  reaches(id: string, states: TransferState | readonly TransferState[], timeoutMs?: number): Promise<TransferStatus>
  /** Resolves when all transfers have ended. On a time-out, throws an error that names the open transfers. */
  outcomes(ids: readonly (string | Sent)[], timeoutMs?: number): Promise<TransferStatus[]>
  lane(chain: ChainKey): Promise<LaneState>
  /** Runs the `temporal` CLI. Throws if its exit code is not 0. */
  temporal(...args: string[]): Promise<CliAnswer>
  /** Stops everything. Throws if a process ended by itself, did not stop, or logged a secret. */
  close(): Promise<void>
}

/**
 * Starts a devnet. PORTAGE_E2E_NO_CACHE=1 (or `noCache`) makes every workflow task a replay, which finds code that is
 * not deterministic. PORTAGE_E2E_BROADCAST=queue sends all broadcasts through the lanes' queues.
 */
export async function startStage(
  options: DevnetOptions & {
    readonly noCache?: boolean
    /** The keys with which the stage itself decrypts payloads. */ readonly encryption?: PayloadEncryption
  } = {},
): Promise<Stage> {
  const { noCache = process.env['PORTAGE_E2E_NO_CACHE'] === '1', encryption, ...devnetOptions } = options
  const defaults = { blockTimeSeconds: 0.25, inMemory: true, ui: false, log: () => {}, worker: quickTakeover } as const
  const broadcast = process.env['PORTAGE_E2E_BROADCAST'] === 'queue' ? 'queue' : undefined
  const devnet = await startDevnet({ ...defaults, broadcast, ...devnetOptions })
  // The SDK's own retries would end the process if a test closes the client while a call waits.
  const connection = await Connection.connect({ address: devnet.temporal.address, interceptors: retries() })
  const client = createTemporalClient(connection, 'default', {
    codec: createEncryptionCodec(encryption),
    streamNames: streamNames(configSchema.parse(devnet.relayerConfig())),
  })
  const processes: PortageProcess[] = []
  const endedOnPurpose = new Set<PortageProcess>()
  const sent: Sent[] = []

  const identify = (transfers: readonly SentTransfer[]) => Promise.all(transfers.map((one) => identified(devnet, one)))

  async function end(portage: PortageProcess, signal: 'SIGKILL' | 'SIGTERM' = 'SIGTERM'): Promise<void> {
    endedOnPurpose.add(portage)
    if (signal === 'SIGTERM') return portage.stop(stopMs)
    portage.kill('SIGKILL')
    await portage.exited
  }

  async function status(id: string): Promise<TransferStatus> {
    const handle = client.workflow.getHandle(id)
    const { status: execution } = await handle.describe()
    return execution.name === 'RUNNING' ? handle.query<TransferStatus>('status') : ((await handle.result()) as TransferStatus)
  }

  function reaches(id: string, states: TransferState | readonly TransferState[], timeoutMs = 90_000): Promise<TransferStatus> {
    let last = 'not started'
    const look = async () => {
      const now = await status(id)
      last = `${now.state}: ${now.timeline.at(-1)?.note ?? ''}`
      return [states].flat().includes(now.state) && now
    }
    const awaited = until(look, { timeoutMs, everyMs: 100, growingToMs: 300, what: `${id} to be ${[states].flat().join(' or ')}` })
    return awaited.catch((error: unknown) => {
      throw new Error(`${String(error)}; it is ${last}`, { cause: error })
    })
  }

  /** Waits for the result that the server pushes, because polling many transfers would keep the machine busy. */
  async function outcome(id: string, timeoutMs = 90_000): Promise<TransferStatus> {
    const result = () => client.workflow.getHandle(id).result() as Promise<TransferStatus>
    const told = until(result, { timeoutMs, everyMs: 100, what: `the result of ${id}` }).catch(() => undefined)
    const ended = await Promise.race([told, setTimeout(timeoutMs, undefined, { ref: false })])
    return ended ?? reaches(id, ['delivered', 'rejected', 'declined', 'cancelled'], 0)
  }

  return {
    devnet,
    client,
    sent,
    async portage(portageOptions = {}) {
      const name = portageOptions.name ?? `portage-${processes.length + 1}`
      const env = { ...(noCache && { PORTAGE_MAX_CACHED_WORKFLOWS: '0' }), ...portageOptions.env }
      const started = await startPortage(devnet, { ...portageOptions, name, env })
      processes.push(started)
      return started
    },
    end,
    async killAll() {
      for (const portage of processes.filter(({ ended }) => ended === undefined)) await end(portage, 'SIGKILL')
    },
    identify,
    async send(source, transfers) {
      const signed = await identify(await devnet.users[source].send(transfers))
      sent.push(...signed)
      return signed
    },
    vaa: async (one) => (await devnet.guardian.waitFor(one.emitterChain, one.emitter, one.sequence)).bytes,
    async submit(portage, vaa) {
      const response = await fetch(`${portage.apiUrl}/v1/transfers`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...portage.admin },
        body: JSON.stringify({ vaa: Buffer.from(vaa).toString('base64') }),
      })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    },
    status,
    reaches,
    outcomes: (ids, timeoutMs) => Promise.all(ids.map((one) => outcome(typeof one === 'string' ? one : one.id, timeoutMs))),
    lane: (chain) => client.workflow.getHandle(ledgerId(devnet, chain)).query<LaneState>('status'),
    temporal: (...args) => runTemporalCli(devnet.temporal, args),
    async close() {
      const complaints = processes
        .filter((one) => one.ended && !endedOnPurpose.has(one))
        .map((one) => `a Portage process ${one.ended} by itself: ${one.tail()}`)
      for (const one of processes) await one.stop(stopMs)
      complaints.push(...(await loggedSecrets(devnet, processes)))
      await connection.close()
      const { ethereum, bsc } = devnet.chains
      // The pid of an ended process may be reused.
      const pids = [...processes.filter(({ ended }) => ended === undefined), ethereum.anvil, bsc.anvil, devnet.temporal].map(
        ({ pid }) => pid,
      )
      await devnet.stop()
      complaints.push(...pids.filter(alive).map((pid) => `process ${pid} was left running`))
      if (complaints.length > 0) throw new Error(complaints.join('\n'))
    },
  }
}

async function identified(devnet: Devnet, sent: SentTransfer): Promise<Sent> {
  const { digest } = await devnet.guardian.waitFor(sent.emitterChain, sent.emitter, sent.sequence)
  const { emitterChain, emitter, sequence } = sent
  const sourceId = String(emitterChain)
  return {
    ...sent,
    id: transferId({ bridge: 'wormhole-token-bridge', sourceId, emitter, sequence: String(sequence), digest }),
  }
}

export function ledgerId(devnet: Devnet, chain: ChainKey, index = 0): string {
  const lane = devnet.lanes.filter((one) => one.chain === chain)[index]
  if (!lane) throw new Error(`${chain} has no lane ${index}`)
  return laneWorkflowId(laneId('evm', devnet.chains[chain].anvil.chainId, lane.address))
}

async function loggedSecrets(devnet: Devnet, processes: readonly PortageProcess[]): Promise<string[]> {
  const logs = await Promise.all(processes.map(({ logFile }) => readFile(logFile, 'utf8').catch(() => '')))
  return devnet.lanes
    .filter(({ privateKey }) => logs.some((log) => log.toLowerCase().includes(privateKey.slice(2).toLowerCase())))
    .map(({ variable }) => `the key of ${variable} is in a log`)
}
