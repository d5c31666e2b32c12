import { type NativeTransfer, toTransfer } from '../../../bridges/native-bridge/message.ts'
import type { ScannedSource } from '../../../bridges/port.ts'
import type { HeadEvent } from '../../../chains/port.ts'
import { type FaultProxy, startFaultProxy } from '../../../lab/devnet/fault-proxy/proxy.ts'
import { until } from '../../../lab/devnet/until.ts'
import { viewStream } from '../../../domain/stream/reducer.ts'
import type { StreamState, StreamView } from '../../../domain/stream/stream.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import type { Mismatch } from '../../../intake/submit/halt-route.ts'
import { createSubmitter } from '../../../intake/submit/submitter.ts'
import type { CheckpointStore } from '../../../intake/streams/checkpoints.ts'
import { createScannedAgent, type ScannedAgent, type ScannedAgentOptions } from '../../../intake/streams/scanned/agent.ts'
import { queryStream } from '../../../temporal/client/streams/streams.ts'
import { tokenBridgeMessages } from '../../../lab/devnet/wormhole/token-bridge-messages.ts'
import { createVaaLookup } from '../../../intake/submit/vaa-lookup.ts'
import { type Logger, silentLogger } from '../../../observability/logger.ts'
import type { SignedAgentOptions } from '../../../intake/streams/signed/agent.ts'
import { createMetrics } from '../../../observability/metrics.ts'
import { transferId } from '../../../temporal/contracts/names.ts'
import { streamWorkflowId } from '../../../temporal/contracts/stream.ts'
import { testChain } from '../../helpers/evm.ts'
import { createNativeBridge, type NativeBridgeNetwork, startNativeBridge } from '../../helpers/native-bridge.ts'
import { type Ledgers, startLedgers } from '../../lanes/setting.ts'
import { onEveryChain } from '../../helpers/on-every-chain.ts'

export interface Line {
  readonly level: string
  readonly message: string
  readonly fields: Record<string, unknown> | undefined
}

/** A native bridge on two anvils. No worker runs transfers, so they stay open. */
export interface ScannedSetting {
  readonly network: NativeBridgeNetwork
  readonly ledgers: Ledgers
  /** A proxy of the source's node, which only the agents use. */
  readonly proxy: FaultProxy
  /** The head that the agents see. */
  head(): HeadEvent
  /** Starts or stops mining on both chains, with a block every 300 ms. */
  mining(wanted: boolean): void
  /**
   * Options of a signed agent for which every message verifies, no server has a message, and no transfer is really
   * started.
   */
  signed(): Omit<SignedAgentOptions, 'source' | 'chain' | 'auditMs'>
  /** Makes a stream that begins with the next number and block. */
  stream(options?: StreamOptions): Promise<OneStream>
  stop(): Promise<void>
}

export interface StreamOptions {
  readonly maxOpen?: number
  readonly rangeBlocks?: number
  readonly auditMs?: number
  readonly checkpoints?: CheckpointStore
  /** Start block in the agent's config, if it differs from the stream's start. */
  readonly start?: number
}

export interface OneStream {
  readonly source: ScannedSource
  readonly lines: Line[]
  readonly halts: readonly Mismatch[]
  agent(options?: StreamOptions): ScannedAgent
  state(): Promise<StreamState>
  shows(wanted: (view: StreamView) => boolean | Promise<boolean>, what: string, timeoutMs?: number): Promise<StreamView>
  /** Initiates transfers on the source, and makes them final. */
  initiate(...amounts: bigint[]): Promise<NativeTransfer[]>
  runs(transfer: NativeTransfer): Promise<boolean>
  id(transfer: NativeTransfer): string
  complete(...transfers: NativeTransfer[]): Promise<void>
  metrics(agent: ScannedAgent): Promise<string>
  /** Deletes the stream's workflow. */
  lose(): Promise<void>
}

const blockMs = 300

export async function startScannedSetting(): Promise<ScannedSetting> {
  const [network, ledgers] = await Promise.all([startNativeBridge('fixed'), startLedgers()])
  let isMining = true
  // anvil's shortest interval is a second.
  const ticker = setInterval(() => {
    for (const { anvil } of isMining ? [network.source, network.target] : []) void anvil.rpc('evm_mine').catch(() => {})
  }, blockMs)
  const proxy = await startFaultProxy(network.source.anvil.url)
  const chain = testChain(proxy.url, { name: 'source', networkId: 1337 })
  await chain.connect()
  const agents: ScannedAgent[] = []
  const { client } = ledgers.temporal
  let streams = 0

  const ends = { ...network, source: { ...network.source, chain } }
  const { stream: any } = createNativeBridge(ends)

  return {
    network,
    ledgers,
    proxy,
    head() {
      const { current } = chain.heads
      if (!current) throw new Error('no block was seen')
      return current
    },
    mining(wanted) {
      isMining = wanted
    },
    signed() {
      const decode = tokenBridgeMessages(new Map([[2, 'ethereum']])).decode
      const bridge = {
        name: 'wormhole-token-bridge' as const,
        decode,
        endpoints: onEveryChain({ verify: async () => ({ kind: 'valid' }) }),
      }
      return {
        ...{ bridge, client, logger: silentLogger(), rangeBlocks: 10, lookBackMs: 0, checkpoints: undefined },
        submitter: { submit: async (_, vaa) => ({ id: transferId(decode(vaa)), status: 'started' }) },
        lookup: createVaaLookup({ guardianApis: [], wormholescanApis: [] }),
      }
    },
    async stream(defaults = {}) {
      const { maxOpen = 100 } = defaults
      const height = Number(await network.source.anvil.rpc<string>('eth_blockNumber'))
      const first = String(BigInt((await any.highest()) ?? '0') + 1n)
      const { bridge, endpoint, stream: made } = createNativeBridge(ends, { startBlock: height + 1, maxOpen })
      const source = { ...made, config: { ...made.config, first, stream: `native-bridge:source:target-${++streams}` } }
      const lines: Line[] = []
      const halts: Mismatch[] = []
      const stream = source.config.stream
      const state = async () => {
        const found = await queryStream(client, stream)
        if (!found) throw new Error(`there is no ${stream}`)
        return found
      }
      const transferOf = (transfer: NativeTransfer): Transfer => toTransfer(network.route, transfer)
      return {
        source,
        lines,
        halts,
        agent(changes = {}) {
          const { rangeBlocks = 1_000, auditMs = 2_000, checkpoints, ...config } = { ...defaults, ...changes }
          const options: ScannedAgentOptions = {
            source: { ...source, config: { ...source.config, ...config } },
            sourceChain: chain,
            targets: new Map([['target', { chain: network.target.chain, endpoint }]]),
            client,
            submitter: createSubmitter({ bridges: new Map([[bridge.name, bridge]]), client }),
            decode: bridge.decode,
            haltRoute: async (mismatch) => void halts.push(mismatch),
            isHalted: () => halts.length > 0,
            logger: listing(lines),
            rangeBlocks,
            lookBackMs: 0,
            auditMs,
            checkpoints,
          }
          const agent = createScannedAgent(options)
          agents.push(agent)
          agent.start()
          return agent
        },
        state,
        shows: (wanted, what, timeoutMs = 90_000) => {
          let last: StreamView | undefined
          const look = async () => {
            last = viewStream(await state())
            return (await wanted(last)) && last
          }
          const waited = until(look, { timeoutMs, everyMs: 100, what: `${stream}: ${what}` })
          return waited.catch((error: unknown) => {
            throw new Error(`${String(error)}; it is ${JSON.stringify(last)}; ${JSON.stringify(lines.slice(-5))}`, { cause: error })
          })
        },
        async initiate(...amounts) {
          const started = await network.start(...amounts)
          await network.source.finalise()
          return started
        },
        async runs(transfer) {
          const found = await client.workflow
            .getHandle(transferId(transferOf(transfer)))
            .describe()
            .catch(() => undefined)
          return found?.status.name === 'RUNNING'
        },
        id: (transfer) => transferId(transferOf(transfer)),
        async complete(...transfers) {
          for (const transfer of transfers) await network.deliver(await endpoint.delivery(transferOf(transfer)).call())
          await network.target.finalise()
        },
        metrics(agent) {
          const metrics = createMetrics()
          metrics.onCollect((all) => agent.report(all))
          return metrics.render()
        },
        async lose() {
          const execution = { workflowId: streamWorkflowId(stream) }
          await client.workflowService.deleteWorkflowExecution({ namespace: client.options.namespace, workflowExecution: execution })
          const isLost = async () => (await queryStream(client, stream)) === undefined
          await until(isLost, { timeoutMs: 60_000, what: `${stream} to be forgotten` })
        },
      }
    },
    async stop() {
      clearInterval(ticker)
      for (const agent of agents) await agent.stop()
      chain.close()
      await proxy.stop()
      await network.stop()
      await ledgers.stop()
    },
  }
}

function listing(lines: Line[]): Logger {
  const at = (level: string) => (message: string, fields?: Record<string, unknown>) => void lines.push({ level, message, fields })
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: () => logger }
  return logger
}
