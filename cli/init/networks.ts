import { getAddress } from 'ethers'
import { tokenBridgeEmitters } from '../../bridges/wormhole-token-bridge/emitters.ts'
import { wormholeTable } from './wormhole-table.ts'

export const networks = ['mainnet', 'testnet'] as const
export type Network = (typeof networks)[number]

/** An EVM chain with a token bridge, from the tables of the Wormhole SDK. */
export interface KnownChain {
  /** Lower case: `ethereum`, `arbitrum-sepolia`. */
  readonly name: string
  readonly wormholeChainId: number
  readonly networkId: number
  readonly core: string
  readonly tokenBridge: string
  /** Blocks after which guardians sign messages that ask for finality; 0: at once. Undefined: the SDK does not say. */
  readonly finalityBlocks?: number
  readonly blockTimeMs?: number
}

/**
 * Test networks that are still in the tables, by EIP-155 chain id, and their successors. Goerli, its rollups and Mumbai
 * ended in the first half of 2024.
 */
const ended: ReadonlyMap<number, string> = new Map([
  [5, 'sepolia'],
  [420, 'optimism-sepolia'],
  [80_001, 'polygon-sepolia'],
  [84_531, 'base-sepolia'],
  [421_613, 'arbitrum-sepolia'],
])

/** The name of the successor. Undefined: the chain is not known to have ended. */
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
  // The emitter of a contract is its address, padded with zeros to 32 bytes.
  const tokenBridge = getAddress(`0x${emitters.get(Number(wormholeChainId))?.slice(24) ?? ''}`)
  return {
    ...{ name, wormholeChainId: Number(wormholeChainId), networkId: Number(networkId), core, tokenBridge },
    ...(blocks !== '-' && { finalityBlocks: Number(blocks) }),
    ...(blockTime !== '-' && { blockTimeMs: Number(blockTime) }),
  }
}
