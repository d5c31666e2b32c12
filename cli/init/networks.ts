import { getAddress } from 'ethers'
import { tokenBridgeEmitters } from '../../bridges/wormhole-token-bridge/emitters.ts'
import { wormholeTable } from './wormhole-table.ts'

export const networks = ['mainnet', 'testnet'] as const
export type Network = (typeof networks)[number]

/** An EVM chain with a token bridge, as the tables of the Wormhole SDK know it. */
export interface KnownChain {
  /** Lower case: `ethereum`, `arbitrum-sepolia`. */
  readonly name: string
  /** Wormhole's number of it. */
  readonly wormholeChainId: number
  /** The EIP-155 chain id. */
  readonly networkId: number
  readonly core: string
  readonly tokenBridge: string
  /** After how many blocks guardians sign what asks for finality; 0: at once. Undefined: the SDK does not say. */
  readonly finalityBlocks?: number
  readonly blockTimeMs?: number
}

/**
 * Test networks that the tables still have, by their EIP-155 chain ids, and what has taken their place: Goerli and what was built on it, and Mumbai, ended in the
 * first half of 2024.
 */
const ended: ReadonlyMap<number, string> = new Map([
  [5, 'sepolia'],
  [420, 'optimism-sepolia'],
  [80_001, 'polygon-sepolia'],
  [84_531, 'base-sepolia'],
  [421_613, 'arbitrum-sepolia'],
])

/** The name of the chain that has taken its place; undefined: it goes on, as far as is known. */
export function successorOf({ networkId }: Pick<KnownChain, 'networkId'>): string | undefined {
  return ended.get(networkId)
}

/** The EVM chains of a network that have a token bridge, in the order of their Wormhole chain ids. */
export function knownChains(network: Network): readonly KnownChain[] {
  const emitters = new Map(tokenBridgeEmitters[network].map(([chain, , emitter]) => [chain, emitter]))
  return wormholeTable[network]
    .trim()
    .split('\n')
    .map((row) => toChain(row, emitters))
}

function toChain(row: string, emitters: ReadonlyMap<number, string>): KnownChain {
  const [name = '', wormholeChainId, networkId, core = '', blocks = '-', blockTime = '-'] = row.split(' ')
  // A contract is an emitter by its address, filled up with zeros to 32 bytes.
  const tokenBridge = getAddress(`0x${emitters.get(Number(wormholeChainId))?.slice(24) ?? ''}`)
  return {
    ...{ name, wormholeChainId: Number(wormholeChainId), networkId: Number(networkId), core, tokenBridge },
    ...(blocks !== '-' && { finalityBlocks: Number(blocks) }),
    ...(blockTime !== '-' && { blockTimeMs: Number(blockTime) }),
  }
}
