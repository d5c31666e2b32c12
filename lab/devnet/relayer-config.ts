import type { z } from 'zod'
import type { configSchema } from '../../config/schema/schema.ts'
import type { DevnetAccount } from './chain/accounts.ts'
import type { NttNetwork } from './ntt/ntt.ts'
import { toUniversal } from './wormhole/vaa.ts'
import type { WormholeChain } from './wormhole/wormhole.ts'

/** A config as a person writes it, before defaults are added. */
export type ConfigInput = z.input<typeof configSchema>

export type NativeRouteInput = NonNullable<ConfigInput['bridges']['native-bridge']>['routes'][number]

export interface LaneKey extends DevnetAccount {
  readonly chain: string
  /** Environment variable with the key: PORTAGE_DEVNET_KEY_<n>. */
  readonly variable: string
}

export interface RelayerConfigInput {
  readonly chains: readonly WormholeChain[]
  /** URLs of nodes by chain name, instead of the chain's anvil. */
  readonly nodes?: Readonly<Record<string, readonly { readonly url: string }[]>>
  readonly lanes: readonly LaneKey[]
  /** Absolute path, because relative paths in a config file are relative to the file's folder. */
  readonly dataFolder: string
  readonly temporalAddress: string
  readonly temporalWebUi?: string | undefined
  readonly spyAddress: string
  readonly guardianApi: string
  readonly wormholescanApi: string
  /** Maximum number of nonces of a lane in flight. Default 64, which the pool of a devnet's node accepts. */
  readonly window?: number
  readonly broadcast?: 'auto' | 'queue' | undefined
  readonly apiPort?: number
  readonly wormhole?: boolean | undefined
  readonly receivers?: boolean | undefined
  readonly ntt?: NttNetwork['ends'] | undefined
  /** Ends of an NTT token whose transfers need a request to the Executor. Undefined if there is no such token. */
  readonly paidNtt?: NttNetwork['ends'] | undefined
  readonly executor?: NonNullable<ConfigInput['bridges']>['executor']
  readonly cctp?: ConfigInput['bridges']['cctp']
  readonly nativeRoutes?: readonly NativeRouteInput[] | undefined
  readonly auditMinutes?: number | undefined
  readonly transferAuditMinutes?: number | undefined
  readonly checkpoints?: string | undefined
  readonly worker?: ConfigInput['worker'] | undefined
}

/**
 * Times after which another process takes over, for tests that wait for a takeover. Shorter times fail on a machine
 * with a load of 8.
 */
export const quickTakeover = { stickySeconds: 1, workflowTaskSeconds: 5, heartbeatSeconds: 5 } as const satisfies ConfigInput['worker']

/**
 * Minimum fee of ERC20s, in the VAA's 8 decimals: 0.0001. Coins have no minimum fee, so they are delivered for free.
 */
export const devnetTokenFee = 10_000n
/** `devnetTokenFee` with 18 decimals, as users state fees. */
export const devnetTokenFeeWei = devnetTokenFee * 10n ** 10n

export function relayerConfig(input: RelayerConfigInput): ConfigInput {
  const { chains, lanes, window = 64, apiPort, auditMinutes, transferAuditMinutes, checkpoints } = input
  const { worker, dataFolder, broadcast } = input
  const nodesOf = (name: string, url: string) => {
    const named = input.nodes?.[name] ?? []
    return named.length > 0 ? named.map((node) => ({ url: node.url })) : [{ url }]
  }
  return {
    dataFolder,
    temporal: { address: input.temporalAddress, webUi: input.temporalWebUi, namespace: 'default', useEnvironment: false },
    ...(worker && { worker }),
    chains: Object.fromEntries(
      chains.map(({ name, wormholeChainId, anvil, core, tokenBridge }) => [
        name,
        {
          family: 'evm' as const,
          networkId: anvil.chainId,
          coin: name === 'bsc' ? 'BNB' : 'ETH',
          wormholeChainId,
          nodes: nodesOf(name, anvil.url),
          finality: { kind: 'tag' as const },
          blockTimeMs: Math.max(50, Math.round(anvil.blockTimeSeconds * 1000)),
          contracts: { core, tokenBridge },
          // The limits are high, because a run has the traffic of days and many spikes of the base fee within a few
          // minutes.
          signing: { maxSpendingPerHourWei: coins(500n), maxSpendingPerDayWei: coins(1_000n) },
          lanes: lanes
            .filter((lane) => lane.chain === name)
            .map(({ address, variable }) => ({
              ...{ address, window, signer: { kind: 'environment' as const, variable } },
              ...(broadcast && { broadcast }),
            })),
        },
      ]),
    ),
    bridges: bridgesOf(input),
    ...(transferAuditMinutes !== undefined && { audit: { everyMinutes: transferAuditMinutes } }),
    // The quarantine is short, so that recipients do not wait the default minute after a revert that a test or a fault
    // caused.
    transfers: { quarantineSeconds: 1 },
    streams: {
      ...(auditMinutes !== undefined && { auditMinutes }),
      ...(checkpoints !== undefined && { checkpoints: { kind: 'directory' as const, path: checkpoints } }),
    },
    ...(apiPort === undefined ? {} : { api: { port: apiPort } }),
  }
}

function bridgesOf(input: RelayerConfigInput): ConfigInput['bridges'] {
  const { chains, wormhole = true, receivers, ntt, paidNtt, executor, cctp, nativeRoutes } = input
  const tokens = [...(ntt ? [{ ...tokenOf(ntt), free: true as const }] : []), ...(paidNtt ? [tokenOf(paidNtt)] : [])]
  const fees = Object.fromEntries(
    chains.flatMap((chain) => [
      [`${chain.wormholeChainId}/${toUniversal(chain.weth)}`, '0'],
      [`${chain.wormholeChainId}/${toUniversal(chain.token)}`, String(devnetTokenFee)],
    ]),
  )
  const routes = chains.flatMap((source) => chains.flatMap((target) => payloadRoutes(source, target)))
  return {
    ...(wormhole && {
      'wormhole-token-bridge': {
        spies: [{ address: input.spyAddress }],
        guardianApis: [input.guardianApi],
        wormholescanApis: [input.wormholescanApi],
        minimumFees: Object.fromEntries(chains.map(({ name }) => [name, fees])),
        freeRoutes: chains.map(({ name }) => ({ target: name })),
      },
    }),
    ...(wormhole && receivers && { receivers: { routes } }),
    ...(wormhole && tokens.length > 0 && { ntt: { tokens } }),
    ...(executor && { executor }),
    ...(cctp && { cctp }),
    ...(nativeRoutes && { 'native-bridge': { routes: [...nativeRoutes] } }),
  }
}

function tokenOf(ends: NttNetwork['ends']) {
  const peers: Record<string, { manager: string; transceivers: string[] }> = {}
  for (const { name, manager, transceivers } of Object.values(ends)) peers[name] = { manager, transceivers: [...transceivers] }
  return { peers }
}

function payloadRoutes(source: WormholeChain, target: WormholeChain) {
  if (source === target) return []
  const where = { '0': '03', '67': toUniversal(target.redeemer), '99': target.wormholeChainId.toString(16).padStart(4, '0') }
  return [
    {
      ...{ source: source.name, emitter: source.tokenBridge, where, target: target.name, contract: target.redeemer, free: true as const },
      function: 'completeTransferWithPayload(bytes)',
      delivered: { contract: target.tokenBridge, view: 'isTransferCompleted(bytes32)' },
    },
  ]
}

export function withBroadcast(config: ConfigInput, broadcast: 'auto' | 'queue'): ConfigInput {
  const chains = Object.entries(config.chains).map(([name, chain]) => {
    return [name, { ...chain, lanes: chain.lanes?.map((lane) => ({ ...lane, broadcast })) }] as const
  })
  return { ...config, chains: Object.fromEntries(chains) as ConfigInput['chains'] }
}

function coins(count: bigint): string {
  return String(count * 10n ** 18n)
}
