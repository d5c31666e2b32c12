import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { accountIndex, devnetAccount, devnetGuardians, type DevnetAccount } from './chain/accounts.ts'
import { startAnvil, type Anvil } from './chain/anvil.ts'
import { type CctpNetwork, type CctpNetworkOptions, cctpPlaces, startCctpNetwork } from './cctp/network.ts'
import { check, type CheckResult } from '../checker/checker.ts'
import { devnetQuoter, quoterVariable } from './executor/deploy.ts'
import { type ExecutorNetwork, paidNttEnds, startExecutorNetwork } from './executor/network.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy/proxy.ts'
import { startGuardian, type Guardian } from './wormhole/guardian.ts'
import type { NativeBridgeVariant } from './native/native-bridge.ts'
import { startNativeNetwork, type NativeNetwork } from './native/native-network.ts'
import { deployNtt, type NttNetwork, type NttOptions } from './ntt/ntt.ts'
import { relayerConfig, type ConfigInput, type LaneKey } from './relayer-config.ts'
import { type AnySent, byBridge } from './sent.ts'
import { startTemporal, type TemporalOptions, type TemporalServer } from './temporal/temporal.ts'
import { startUsers, type Users } from './wormhole/users.ts'
import { chainPlan, deployWormhole, type WormholeChain } from './wormhole/wormhole.ts'

export interface DevnetPorts {
  readonly temporal?: number
  readonly ui?: number
  readonly ethereum?: number
  readonly bsc?: number
  readonly spy?: number
  readonly guardianApi?: number
  readonly api?: number
}

export interface DevnetOptions {
  /** Seconds between blocks, for both chains or for each. Default 1. */
  readonly blockTimeSeconds?: number | { readonly ethereum: number; readonly bsc: number }
  /** `finalized` lags the head by twice this number of blocks, for both chains or for each. Default 1. */
  readonly slotsInAnEpoch?: number | { readonly ethereum: number; readonly bsc: number }
  /** Number of guardians, 1 to 19. Default 1. */
  readonly guardians?: number
  /** Consistency level of the token bridges' messages: 1 finalized (default), 201 safe, 200 instant. */
  readonly consistencyLevel?: number
  /**
   * Number of fault proxies that relayerConfig() names as nodes of each chain. They forward to the chain's only anvil.
   * Default: none.
   */
  readonly nodesPerChain?: number
  readonly keysPerChain?: number
  /** Maximum number of nonces of a lane in flight, in relayerConfig(). Default 64. */
  readonly window?: number
  readonly broadcast?: 'auto' | 'queue' | undefined
  /** Whether relayerConfig() has Wormhole's token bridge. Its contracts always exist. Default true. */
  readonly wormhole?: boolean
  /** Whether relayerConfig() has routes for payload 3 to each chain's redeemer. Default false. */
  readonly receivers?: boolean
  /**
   * Options of an NTT token. With an Executor, the devnet has a second NTT token, whose transfers need requests.
   * Default: none.
   */
  readonly ntt?: NttOptions | undefined
  /** Whether both chains have an Executor. If so, `env` contains the key of a quoter. Default false. */
  readonly executor?: boolean
  readonly cctp?: CctpNetworkOptions | undefined
  /** Variant of the native bridge, which goes in both directions. Default: no native bridge. */
  readonly native?: NativeBridgeVariant | false
  readonly batch?: number | undefined
  readonly maxOpen?: number | undefined
  /** Audit interval of streams. Default: 0.1 with a native bridge, otherwise the config's default. */
  readonly auditMinutes?: number
  readonly transferAuditMinutes?: number | undefined
  /** Times after which the work of a dead process is taken over. Default: the config's default. */
  readonly worker?: ConfigInput['worker']
  readonly inMemory?: boolean
  /** Folder for Temporal's database and the logs. Default: a temporary folder, which `stop()` removes. */
  readonly dir?: string
  readonly ui?: boolean
  readonly ports?: DevnetPorts
  /** A running Temporal server, which `stop()` does not stop. Default: the devnet starts its own. */
  readonly temporal?: TemporalServer
  readonly temporalOptions?: Pick<TemporalOptions, 'dynamicConfig' | 'sqlitePragmas'>
  readonly log?: (line: string) => void
}

export interface Devnet {
  readonly temporal: TemporalServer
  readonly chains: { readonly ethereum: WormholeChain; readonly bsc: WormholeChain }
  /** Fault proxies that relayerConfig() names as nodes. The checker, the users and the guardians use anvil directly. */
  readonly nodes: { readonly ethereum: readonly FaultProxy[]; readonly bsc: readonly FaultProxy[] }
  readonly guardian: Guardian
  readonly users: { readonly ethereum: Users; readonly bsc: Users }
  readonly ntt: NttNetwork | undefined
  readonly executor: ExecutorNetwork | undefined
  readonly cctp: CctpNetwork | undefined
  readonly native: NativeNetwork | undefined
  readonly lanes: readonly LaneKey[]
  /** Environment for a process with relayerConfig(). PORTAGE_DEVNET_KEY_<n> contains the DEVNET key of a lane. */
  readonly env: Readonly<Record<string, string>>
  /** A funded account per chain. It has no role, so tests can use it to redeem a transfer before Portage does. */
  readonly outsiders: { readonly ethereum: DevnetAccount; readonly bsc: DevnetAccount }
  readonly dir: string
  relayerConfig(): ConfigInput
  /** Runs the independent checker over these transfers and over all lanes of this devnet. */
  check(sent: readonly AnySent[]): Promise<CheckResult>
  stop(): Promise<void>
}

/** Ids of these two chains in Wormhole's own devnet. */
const networks = { ethereum: { networkId: 1337, wormholeChainId: 2 }, bsc: { networkId: 1397, wormholeChainId: 4 } } as const
type ChainKey = keyof typeof networks

/**
 * Starts a devnet. If a part fails to start, stops the parts that have started. Throws SETUP_INCOMPLETE,
 * TEMPORAL_UNAVAILABLE, NODE_UNAVAILABLE.
 */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'portage-devnet-')))
  await mkdir(dir, { recursive: true })
  // An old database is removed, because it names blocks that do not exist on the new chains.
  if (!options.temporal) for (const suffix of ['', '-wal', '-shm']) await rm(join(dir, `temporal.db${suffix}`), { force: true })
  const started = new Started()
  if (options.dir === undefined) started.onStop(() => rm(dir, { recursive: true, force: true }))
  try {
    return devnetOf(await startParts(options, dir, started), options, dir, () => started.stop())
  } catch (error) {
    await started.stop()
    throw error
  }
}

/** Started parts stop in reverse order, because later parts may need earlier ones. */
class Started {
  readonly #stops: (() => Promise<unknown>)[] = []

  async keep<T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> {
    const one = await starting
    this.onStop(() => one.stop())
    return one
  }

  onStop(stop: () => Promise<unknown>): void {
    this.#stops.push(stop)
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) await stop()
  }
}

type Parts = Pick<Devnet, 'temporal' | 'chains' | 'nodes' | 'guardian' | 'lanes' | 'native' | 'ntt' | 'executor' | 'cctp'>

async function startParts(options: DevnetOptions, dir: string, started: Started): Promise<Parts> {
  const log = options.log ?? (() => {})
  // Waits for both starts even if one fails, because a part that is still starting cannot be stopped.
  const [server, chains] = await Promise.allSettled([
    options.temporal ?? started.keep(startTemporal(temporalOptions(options, dir, log))),
    startChains(options, dir, started, log),
  ])
  return { temporal: valueOf(server), ...valueOf(chains) }
}

async function startChains(
  options: DevnetOptions,
  dir: string,
  started: Started,
  log: (line: string) => void,
): Promise<Omit<Parts, 'temporal'>> {
  const [ethereumStart, bscStart] = await Promise.allSettled([
    started.keep(anvil('ethereum', options, dir)),
    started.keep(anvil('bsc', options, dir)),
  ])
  const [ethereumNode, bscNode] = [valueOf(ethereumStart), valueOf(bscStart)]
  const guardians = devnetGuardians(options.guardians ?? 1)
  log(`Deploying the contracts on both chains (${guardians.length} guardian${guardians.length === 1 ? '' : 's'})…`)
  const plans = [plan('ethereum', ethereumNode, 0), plan('bsc', bscNode, 1)] as const
  const [ethereum, bsc] = await deployWormhole(plans, { guardians, consistencyLevel: options.consistencyLevel })
  const proxies = (node: Anvil) =>
    Promise.all(Array.from({ length: options.nodesPerChain ?? 0 }, () => started.keep(startFaultProxy(node.url))))
  const nodes = { ethereum: await proxies(ethereumNode), bsc: await proxies(bscNode) }
  const { spy: spyPort, guardianApi: apiPort } = options.ports ?? {}
  const guardian = await started.keep(startGuardian([ethereum, bsc], { guardians, spyPort, apiPort, log }))
  const lanes = laneKeys(options.keysPerChain ?? 1)
  const chains = { ethereum, bsc }
  const { native: variant = false, batch, maxOpen } = options
  // The networks start one after another, because the first start compiles contracts, which delays the timers of the
  // other starts.
  const cctp = options.cctp && (await started.keep(startCctpNetwork(chains, { log, paid: options.executor, ...options.cctp })))
  const native = variant === false ? undefined : await startNativeNetwork(chains, { variant, lanes, batch, maxOpen })
  const ntt = options.ntt && (await deployNtt(chains, options.ntt))
  // Paid transfers need a token of their own, because either all transfers of a token are free or none is.
  const paidNtt = options.executor && options.ntt ? await deployNtt(chains, options.ntt) : undefined
  const executor = options.executor ? await startExecutorNetwork(chains, { ntt: paidNtt, cctp }) : undefined
  return { chains, nodes, guardian, lanes, native, ntt, executor, cctp }
}

function devnetOf(parts: Parts, options: DevnetOptions, dir: string, stop: () => Promise<void>): Devnet {
  const { temporal, chains, nodes, guardian, lanes, native, ntt, executor, cctp } = parts
  const { ethereum, bsc } = chains
  return {
    ...parts,
    users: { ethereum: startUsers(ethereum, bsc), bsc: startUsers(bsc, ethereum) },
    env: {
      ...Object.fromEntries(lanes.map(({ variable, privateKey }) => [variable, privateKey])),
      ...(executor && { [quoterVariable]: devnetQuoter.privateKey }),
    },
    outsiders: { ethereum: devnetAccount(accountIndex.outsider), bsc: devnetAccount(accountIndex.outsider + 1) },
    dir,
    relayerConfig: () =>
      relayerConfig({
        chains: [ethereum, bsc],
        nodes,
        lanes,
        dataFolder: resolve(dir, 'portage-data'),
        temporalAddress: temporal.address,
        temporalWebUi: temporal.uiUrl,
        spyAddress: guardian.spy.address,
        guardianApi: guardian.apiUrl,
        wormholescanApi: guardian.wormholescan.url,
        window: options.window,
        broadcast: options.broadcast,
        apiPort: options.ports?.api,
        wormhole: options.wormhole,
        receivers: options.receivers,
        ntt: ntt?.ends,
        paidNtt: executor && paidNttEnds(executor),
        executor: executor?.config,
        cctp: cctp?.config,
        nativeRoutes: native?.routes,
        auditMinutes: options.auditMinutes ?? (native && 0.1),
        transferAuditMinutes: options.transferAuditMinutes,
        worker: options.worker,
        checkpoints: resolve(dir, 'checkpoints'),
      }),
    check(all) {
      const sent = byBridge(all)
      return check({
        ...{ transfers: sent.wormhole, chains: places(chains), lanes: addresses(lanes) },
        native: native && { transfers: sent.native, ends: native.ends },
        ntt: ntt && { transfers: sent.ntt, ends: ntt.ends },
        executor: executor && { transfers: sent.executor, ...executorPlaces(executor) },
        cctp: cctp && { transfers: sent.cctp, ends: cctpPlaces(cctp) },
      })
    },
    stop,
  }
}

function temporalOptions(options: DevnetOptions, dir: string, log: (line: string) => void): TemporalOptions {
  const { inMemory = false, ui = true, ports } = options
  return { ...options.temporalOptions, dir, inMemory, headless: !ui, port: ports?.temporal, uiPort: ports?.ui, log }
}

function anvil(name: ChainKey, options: DevnetOptions, dir: string): Promise<Anvil> {
  const { blockTimeSeconds = 1, slotsInAnEpoch, ports } = options
  const blockTime = typeof blockTimeSeconds === 'number' ? blockTimeSeconds : blockTimeSeconds[name]
  const slots = typeof slotsInAnEpoch === 'object' ? slotsInAnEpoch[name] : slotsInAnEpoch
  const accounts = accountIndex.lane + 2 * (options.keysPerChain ?? 1)
  const chainId = networks[name].networkId
  return startAnvil({
    chainId,
    blockTimeSeconds: blockTime,
    slotsInAnEpoch: slots,
    port: ports?.[name],
    accounts,
    logFile: join(dir, `${name}.log`),
  })
}

function plan(name: ChainKey, node: Anvil, position: number) {
  return chainPlan(name, networks[name].wormholeChainId, node, position)
}

/** The two chains have different keys, so that a mix-up of chains is noticed. */
function laneKeys(perChain: number): LaneKey[] {
  return (['ethereum', 'bsc'] as const).flatMap((chain, position) =>
    Array.from({ length: perChain }, (_, index) => {
      const number = position * perChain + index
      return { ...devnetAccount(accountIndex.lane + number), chain, variable: `PORTAGE_DEVNET_KEY_${number + 1}` }
    }),
  )
}

function places(chains: Devnet['chains']): Record<string, { url: string; tokenBridge: string }> {
  return Object.fromEntries(Object.values(chains).map(({ name, anvil: { url }, tokenBridge }) => [name, { url, tokenBridge }]))
}

function executorPlaces(network: ExecutorNetwork) {
  const ends = Object.values(network.ends).map(({ chain: { name, core }, ...end }) => [name, { ...end, core }] as const)
  return { quoter: devnetQuoter.address, ends: Object.fromEntries(ends), ntt: paidNttEnds(network) }
}

function addresses(lanes: readonly LaneKey[]): Record<string, string[]> {
  const byChain: Record<string, string[]> = {}
  for (const { chain, address } of lanes) (byChain[chain] ??= []).push(address)
  return byChain
}

function valueOf<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason
  return result.value
}
