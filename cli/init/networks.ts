import { getAddress } from 'ethers'
import { tokenBridgeEmitters } from '../../bridges/wormhole-token-bridge/emitters.ts'
import { wormholeTable } from './wormhole-table.ts'

export const networks = ['mainnet', 'testnet'] as const
export type Network = (typeof networks)[number]

/** With a token bridge, from the Wormhole SDK. */
export interface KnownChain {
  readonly name: string
  readonly wormholeChainId: number
  readonly networkId: number
  readonly core: string
  readonly tokenBridge: string
  /** Blocks until guardians sign; 0: at once. Undefined: the SDK does not say. */
  readonly finalityBlocks?: number
  readonly blockTimeMs?: number
}

/** By EIP-155 chain id: Goerli, its rollups and Mumbai ended in 2024, but are still in the tables. */
const ended: ReadonlyMap<number, string> = new Map([
  [5, 'sepolia'],
  [420, 'optimism-sepolia'],
  [80_001, 'polygon-sepolia'],
  [84_531, 'base-sepolia'],
  [421_613, 'arbitrum-sepolia'],
])

/** Undefined: not known to have ended. */
export function successorOf({ networkId }: Pick<KnownChain, 'networkId'>): string | undefined {
  return ended.get(networkId)
}

/** With a token bridge, by Wormhole chain id. */
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
