import { wormholeTable } from './wormhole-table.ts'

export const wormholeNetworkNames = ['mainnet', 'testnet'] as const
export type WormholeNetworkName = (typeof wormholeNetworkNames)[number]

/** A chain with a token bridge, as the tables of the Wormhole SDK know it. Addresses are in the chain's own form. */
export interface WormholeChain {
  /** Lower case: `ethereum`, `arbitrum-sepolia`. */
  readonly name: string
  /** Wormhole's number of it. */
  readonly id: number
  /** `Evm`, `Solana`, `Sui`, `Cosmwasm`… */
  readonly platform: string
  /** What the platform calls it: on `Evm` the EIP-155 chain id. */
  readonly nativeId: string
  readonly core: string
  readonly tokenBridge: string
  /** The token bridge as the emitter of its messages: 64 lower-case hex digits. */
  readonly emitter: string
  /** After how many blocks guardians sign what asks for finality; 0: at once. Undefined: the SDK does not say. */
  readonly finalityBlocks?: number
  readonly blockTimeMs?: number
}

/** All chains of a network that have a token bridge, in the order of their numbers. */
export function wormholeChains(network: WormholeNetworkName): readonly WormholeChain[] {
  return wormholeTable[network].trim().split('\n').map(toChain)
}

function toChain(row: string): WormholeChain {
  const [name = '', id, platform = '', nativeId = '', core = '', tokenBridge = '', emitter = '', blocks, blockTime] = row.split(' ')
  const times = { ...numberOr('finalityBlocks', blocks), ...numberOr('blockTimeMs', blockTime) }
  return { name, id: Number(id), platform, nativeId, core, tokenBridge, emitter, ...times }
}

function numberOr<Name extends string>(name: Name, cell: string | undefined): { readonly [field in Name]?: number } {
  return (cell === undefined || cell === '-' ? {} : { [name]: Number(cell) }) as { readonly [field in Name]?: number }
}
