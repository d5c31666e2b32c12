import { getAddress } from 'ethers'
import { tokenBridgeEmitters } from '../../bridges/wormhole-token-bridge/emitters.ts'
import type { FinalityPolicy } from '../../domain/finality.ts'
import { wormholeTable } from './wormhole-table.ts'

export const networks = ['mainnet', 'testnet'] as const
export type Network = (typeof networks)[number]

export type KnownChain = ReturnType<typeof toChain>

/** Networks that ended but are still in the SDK's tables. Source for Celo and Holesky: docs.celo.org/network */
export const ended: ReadonlyMap<number, { readonly year: number; readonly successor?: string }> = new Map([
  [5, { year: 2024, successor: 'sepolia' }],
  [420, { year: 2024, successor: 'optimism-sepolia' }],
  [17_000, { year: 2025, successor: 'sepolia' }],
  [44_787, { year: 2025 }],
  [80_001, { year: 2024, successor: 'polygon-sepolia' }],
  [84_531, { year: 2024, successor: 'base-sepolia' }],
  [421_613, { year: 2024, successor: 'arbitrum-sepolia' }],
])

export function knownChains(network: Network): readonly KnownChain[] {
  const emitters = new Map(tokenBridgeEmitters[network].map(([chain, , emitter]) => [chain, emitter]))
  return wormholeTable[network]
    .trim()
    .split('\n')
    .map((row) => toChain(row, emitters))
}

function toChain(row: string, emitters: ReadonlyMap<number, string>) {
  const [name = '', wormholeChainId, networkId, core = '', blocks = '-', blockTime = '-'] = row.split(' ')
  // The emitter of a contract is its address, padded with zeros to 32 bytes.
  const tokenBridge = getAddress(`0x${emitters.get(Number(wormholeChainId))?.slice(24) ?? ''}`)
  return {
    ...{ name, wormholeChainId: Number(wormholeChainId), networkId: Number(networkId), core, tokenBridge },
    // Blocks after which guardians sign. 0: guardians sign immediately. Absent: the SDK has no number.
    ...(blocks !== '-' && { finalityBlocks: Number(blocks) }),
    ...(blockTime !== '-' && { blockTimeMs: Number(blockTime) }),
  }
}

export interface ChainAdvice {
  readonly finality: FinalityPolicy
  readonly feeModel?: 'op-stack' | 'arbitrum'
  readonly blockTimeMs?: number
  readonly source: string
}

const tagged = { finality: { kind: 'tag' }, source: 'chainlink-evm: finality tag on' } as const
const ethereum: ChainAdvice = { ...tagged, blockTimeMs: 12_000 }
const arbitrum: ChainAdvice = { ...tagged, feeModel: 'arbitrum' }
const opStack: ChainAdvice = { ...tagged, feeModel: 'op-stack', source: 'chainlink-evm: finality tag on; 13 to 15 minutes' }
const opStackOfViem: ChainAdvice = {
  ...tagged,
  feeModel: 'op-stack',
  source: 'viem: a chain of the OP stack, whose nodes tag what Ethereum has finalized',
}
const polygon: ChainAdvice = { finality: { kind: 'depth', blocks: 500 }, source: 'chainlink-evm: depth 500, tag off' }
const bsc: ChainAdvice = { finality: { kind: 'depth', blocks: 50 }, source: "chainlink's older defaults: 50" }
const avalanche: ChainAdvice = { finality: { kind: 'instant' }, source: 'Snowman accepts a block once' }
const kaia: ChainAdvice = { finality: { kind: 'instant' }, source: 'docs.kaia.io, "Consensus Mechanism": immediate finality' }

/** By EIP-155 chain id. Source: docs/operate/chains.md ("Finality"). A test network has its main network's advice. */
const advised: Readonly<Record<number, ChainAdvice>> = {
  ...{ 1: ethereum, 11155111: ethereum, 17000: ethereum },
  ...{ 42161: arbitrum, 421614: arbitrum },
  ...{ 10: opStack, 11155420: opStack, 8453: opStack, 84532: opStack },
  ...{ 137: polygon, 80002: polygon },
  ...{ 56: bsc, 97: bsc },
  ...{ 43114: avalanche, 43113: avalanche },
  ...{ 8217: kaia, 1001: kaia },
  ...{ 130: opStackOfViem, 1301: opStackOfViem, 480: opStackOfViem, 4801: opStackOfViem, 57073: opStackOfViem, 763373: opStackOfViem },
}

/**
 * A chain that is not listed gets the node's finality tag. If its nodes have no tag, transfers only wait, whereas a
 * depth could be too small.
 */
export function adviceOf({ networkId, finalityBlocks }: KnownChain): ChainAdvice {
  const known = advised[networkId]
  if (known) return known
  const sdk = finalityBlocks === undefined ? '' : `; the Wormhole SDK counts ${finalityBlocks} blocks`
  return { finality: { kind: 'tag' }, source: `not known here: the tag of the node, if it has one, else a depth${sdk}` }
}
