import { accountIndex, devnetAccount } from '../chain/accounts.ts'
import { deployNativeBridge, type NativeBridgeEnd, type NativeBridgeVariant } from './native-bridge.ts'
import { startNativeUsers, type NativeUsers } from './native-users.ts'
import type { LaneKey, NativeRouteInput } from '../relayer-config.ts'
import type { WormholeChain } from '../wormhole/wormhole.ts'

export interface NativeNetwork {
  readonly variant: NativeBridgeVariant
  readonly ends: { readonly ethereum: NativeBridgeEnd; readonly bsc: NativeBridgeEnd }
  readonly users: { readonly ethereum: NativeUsers; readonly bsc: NativeUsers }
  readonly routes: readonly NativeRouteInput[]
}

export interface NativeNetworkOptions {
  readonly variant: NativeBridgeVariant
  readonly lanes: readonly LaneKey[]
  readonly batch?: number | undefined
  readonly maxOpen?: number | undefined
}

/**
 * Starts the native bridge. The fund allows 2.5 × 10^16 units per day, and the user owns 10^17. Transfers below 10^12
 * units never reach these limits.
 */
export async function startNativeNetwork(
  chains: { readonly ethereum: WormholeChain; readonly bsc: WormholeChain },
  options: NativeNetworkOptions,
): Promise<NativeNetwork> {
  const { variant, lanes, batch, maxOpen } = options
  const [ethereum, bsc] = await Promise.all([deploy(chains.ethereum, 0, variant, lanes), deploy(chains.bsc, 1, variant, lanes)])
  const route = (source: Deployed, target: Deployed): NativeRouteInput => ({
    ...{ source: source.end.name, target: target.end.name },
    ...{ sourceContract: source.end.bridge, targetContract: target.end.bridge, startBlock: source.startBlock, minimumAmount: '0' },
    ...(batch !== undefined && { batch }),
    ...(maxOpen !== undefined && { maxOpen }),
  })
  return {
    variant,
    ends: { ethereum: ethereum.end, bsc: bsc.end },
    users: { ethereum: startNativeUsers(ethereum.end, bsc.end), bsc: startNativeUsers(bsc.end, ethereum.end) },
    routes: [route(ethereum, bsc), route(bsc, ethereum)],
  }
}

interface Deployed {
  readonly end: NativeBridgeEnd
  readonly startBlock: number
}

async function deploy(
  { name, anvil }: WormholeChain,
  position: number,
  variant: NativeBridgeVariant,
  lanes: readonly LaneKey[],
): Promise<Deployed> {
  const account = (base: number) => devnetAccount(base + position)
  const accounts = { deployer: account(accountIndex.nativeDeployer), user: account(accountIndex.nativeUser) }
  const relayers = lanes.filter((lane) => lane.chain === name).map(({ address }) => address)
  const startBlock = Number(await anvil.rpc<string>('eth_blockNumber'))
  return { end: await deployNativeBridge({ name, anvil, ...accounts, relayers }, variant), startBlock }
}
