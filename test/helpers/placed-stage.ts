import { accountIndex, type DevnetAccount, devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { type Anvil, startAnvil } from '../../lab/devnet/chain/anvil.ts'
import { Script } from '../../lab/devnet/chain/contracts.ts'
import { compiledArtifact } from '../../lab/devnet/chain/solidity.ts'
import { type FaultProxy, startFaultProxy } from '../../lab/devnet/fault-proxy/proxy.ts'
import { until } from '../../lab/devnet/until.ts'
import type { Endpoint, PlacedSource } from '../../bridges/port.ts'
import type { EvmChain } from '../../chains/evm/index.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { placeOf } from '../../domain/stream/places.ts'
import { viewStream } from '../../domain/stream/reducer.ts'
import type { StreamState, StreamView } from '../../domain/stream/stream.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { auditOnce, createScannedAgent, type ScannedAgent, type ScannedAgentOptions } from '../../intake/streams/scanned/agent.ts'
import { createSubmitter } from '../../intake/submit/submitter.ts'
import type { CheckpointStore } from '../../intake/streams/checkpoints.ts'
import type { Logger } from '../../observability/logger.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { queryStream } from '../../temporal/client/streams/streams.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { streamWorkflowId } from '../../temporal/contracts/stream.ts'
import { type Ledgers, startLedgers } from '../lanes/setting.ts'
import { testChain } from './evm.ts'
import { head } from './heads.ts'
import { createMessageBridge, type MessageBridge, payloadFor } from './message-bridge.ts'
import { unused } from './unused.ts'

export interface Sent {
  readonly number: string
  readonly payload: string
  readonly height: number
}

export interface Line {
  readonly level: string
  readonly message: string
}

export interface PlacedOptions {
  readonly maxOpen?: number
  readonly rangeBlocks?: number
  readonly auditMs?: number
  readonly lookBackMs?: number
  readonly checkpoints?: CheckpointStore
  /** Whether the endpoint refuses to start the message with this text. */
  readonly refused?: (text: string) => boolean
}

/** A new contract and its stream, which begins with the next block. */
export interface PlacedStream {
  readonly source: PlacedSource
  readonly contract: string
  readonly lines: Line[]
  agent(options?: PlacedOptions): ScannedAgent
  audit(options?: PlacedOptions): ReturnType<typeof auditOnce>
  state(): Promise<StreamState>
  shows(wanted: (view: StreamView) => boolean | Promise<boolean>, what: string): Promise<StreamView>
  send(...texts: string[]): Promise<Sent[]>
  /** Sends messages in a block that is not final. A first byte other than 1 makes them messages of another bridge. */
  mine(texts: readonly string[], firstByte?: number): Promise<Sent[]>
  transferOf(sent: Sent): Promise<Transfer>
  run(sent: Sent): Promise<string | undefined>
  metrics(agent: ScannedAgent): Promise<string>
  lose(): Promise<void>
}

export interface PlacedStage {
  readonly ledgers: Ledgers
  readonly bridge: MessageBridge
  readonly source: EvmChain
  readonly target: EvmChain
  readonly anvil: Anvil
  readonly targetAnvil: Anvil
  readonly nodes: readonly FaultProxy[]
  relay(...sent: Sent[]): Promise<void>
  /** Starts mining at the source, three blocks per second, or stops it. */
  mining(wanted: boolean): void
  finalise(): Promise<void>
  stream(options?: PlacedOptions & { readonly startBlock?: 'none' }): Promise<PlacedStream>
  stop(): Promise<void>
}

const blockMs = 300
const networks = { source: 1437, target: 1497 } as const

/** Starts two anvils with MessageLog contracts, and a Temporal whose worker serves streams, but no transfers. */
export async function startPlacedStage(nodeCount = 3): Promise<PlacedStage> {
  const start = (chainId: number) => startAnvil({ chainId, blockTimeSeconds: 86_400 })
  const [ledgers, anvil, targetAnvil] = await Promise.all([startLedgers(), start(networks.source), start(networks.target)])
  const artifact = await compiledArtifact('MessageLog')
  const [deployer, stranger] = [devnetAccount(accountIndex.deployer), devnetAccount(accountIndex.outsider)]
  const deploy = async (at: Anvil, account: DevnetAccount) => {
    const script = await Script.of(at, account)
    const contract = script.deploy('MessageLog', [], artifact)
    await script.mine()
    return contract
  }
  const contract = await deploy(targetAnvil, deployer)
  const nodes = await Promise.all(Array.from({ length: nodeCount }, () => startFaultProxy(anvil.url)))
  const source = testChain(
    nodes.map(({ url }) => url),
    { name: 'source', networkId: networks.source },
  )
  const target = testChain(targetAnvil.url, { name: 'target', networkId: networks.target })
  let isMining = true
  const ticker = setInterval(() => {
    for (const one of isMining ? [anvil, targetAnvil] : []) void one.rpc('evm_mine').catch(() => {})
  }, blockMs)
  await Promise.all([source.connect(), target.connect()])
  const bridge = await createMessageBridge({ source, target, contract })
  const agents: ScannedAgent[] = []
  const { client } = ledgers.temporal

  async function finalise(chain: EvmChain = source, at: Anvil = anvil): Promise<void> {
    const wanted = Number(await at.rpc<string>('eth_blockNumber'))
    for (let block = 0; block < 3; block++) await at.rpc('evm_mine')
    await head(chain, ({ finalized }) => finalized >= wanted)
  }

  async function stream(defaults: PlacedOptions & { readonly startBlock?: 'none' } = {}): Promise<PlacedStream> {
    const address = await deploy(anvil, deployer)
    const height = Number(await anvil.rpc<string>('eth_blockNumber'))
    const startBlock = defaults.startBlock === 'none' ? undefined : height + 1
    const added = bridge.add(address, { startBlock, maxOpen: defaults.maxOpen ?? 100 })
    const name = added.config.stream
    const lines: Line[] = []
    const optionsOf = (changes: PlacedOptions): ScannedAgentOptions => {
      const { rangeBlocks = 1_000, auditMs = 600_000, lookBackMs = 0, checkpoints, refused } = { ...defaults, ...changes }
      const endpoint = bridge.endpoints.get('target')!
      const own = { ...bridge, endpoints: new Map([['target', refused ? refusing(endpoint, refused) : endpoint]]) }
      return {
        ...{ source: added, sourceChain: source, targets: new Map([['target', { chain: target, endpoint }]]), client, checkpoints },
        ...{
          decode: bridge.decode,
          submitter: createSubmitter({ bridges: new Map([[bridge.name, own]]), client }),
          haltRoute: unused('haltRoute'),
        },
        ...{ isHalted: () => false, logger: listing(lines), rangeBlocks, lookBackMs, auditMs },
      }
    }
    const state = async () => {
      const found = await queryStream(client, name)
      if (!found) throw new Error(`there is no ${name}`)
      return found
    }
    const transferOf = async ({ number, height: fromBlock }: Sent): Promise<Transfer> => {
      const found = (await added.initiated({ fromBlock, toBlock: fromBlock })).find(({ transfer }) => transfer.sequence === number)
      if (!found) throw new Error(`there is no message ${number}`)
      return found.transfer
    }
    async function mine(texts: readonly string[], firstByte = 1): Promise<Sent[]> {
      const payloads = texts.map((text) => payloadFor(`${name} ${text}`, firstByte))
      const script = await Script.of(anvil, devnetAccount(accountIndex.user))
      script.call(address, artifact.abi, 'send', [payloads])
      const [mined] = await script.mine()
      if (!mined) throw new Error('nothing was mined')
      const raw = mined.logs as unknown as readonly { readonly logIndex: string }[]
      return payloads.map((payload, index) => ({
        ...{ payload, height: mined.blockNumber },
        number: placeOf(mined.blockNumber, Number(raw[index]?.logIndex)),
      }))
    }
    return {
      ...{ source: added, contract: address, lines, state, transferOf, mine },
      agent(changes = {}) {
        const agent = createScannedAgent(optionsOf(changes))
        agents.push(agent)
        agent.start()
        return agent
      },
      audit: (changes = {}) => auditOnce(optionsOf(changes)),
      shows(wanted, what) {
        let last: StreamView | undefined
        const look = async () => {
          last = viewStream(await state())
          return (await wanted(last)) && last
        }
        return until(look, { timeoutMs: 90_000, everyMs: 100, what: `${name}: ${what}` }).catch((error: unknown) => {
          throw new Error(`${String(error)}; it is ${JSON.stringify(last)}; ${JSON.stringify(lines.slice(-5))}`, { cause: error })
        })
      },
      async send(...texts) {
        const sent = await mine(texts)
        await finalise()
        return sent
      },
      async run(sent) {
        const handle = client.workflow.getHandle(transferId(await transferOf(sent)))
        return handle.describe().then(
          ({ status }) => status.name,
          () => undefined,
        )
      },
      metrics(agent) {
        const metrics = createMetrics()
        metrics.onCollect((all) => agent.report(all))
        return metrics.render()
      },
      async lose() {
        const workflowExecution = { workflowId: streamWorkflowId(name) }
        await client.workflowService.deleteWorkflowExecution({ namespace: client.options.namespace, workflowExecution })
        await until(async () => (await queryStream(client, name)) === undefined, { timeoutMs: 60_000, what: `${name} to be forgotten` })
      },
    }
  }

  return {
    ...{ ledgers, bridge, source, target, anvil, targetAnvil, nodes, stream, finalise },
    async relay(...sent) {
      const script = await Script.of(targetAnvil, stranger)
      for (const { payload } of sent) script.call(contract, artifact.abi, 'receiveMessage', [0n, contract, payload])
      await script.mine()
      await finalise(target, targetAnvil)
    },
    mining: (wanted) => void (isMining = wanted),
    async stop() {
      clearInterval(ticker)
      for (const agent of agents) await agent.stop()
      for (const chain of [source, target]) chain.close()
      await Promise.all(nodes.map((node) => node.stop()))
      await Promise.all([anvil, targetAnvil].map((one) => one.stop()))
      await ledgers.stop()
    },
  }
}

function refusing(endpoint: Endpoint, refused: (text: string) => boolean): Endpoint {
  const accept = async (message: Uint8Array) => {
    if (refused(Buffer.from(message).toString('latin1'))) throw new RelayerError('CCTP_CALLER')
    return undefined
  }
  return { ...endpoint, accept }
}

function listing(lines: Line[]): Logger {
  const at = (level: string) => (message: string) => void lines.push({ level, message })
  const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: () => logger }
  return logger
}
