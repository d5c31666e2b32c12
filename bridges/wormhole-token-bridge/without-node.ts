import type { ChainName } from '../../domain/transfer/transfer.ts'
import { unconfiguredSource } from '../../domain/transfer/unconfigured-source.ts'
import type { SignedSource } from '../source-port.ts'
import { tokenBridgeEmitters } from './emitters.ts'
import { createDelivered, streamOf, type TokenBridgeSourceOptions } from './streams.ts'
import { wormholeTokenBridge } from './message.ts'

/** Emitters of the config whose chains it does not have. */
export interface EmittersWithoutNode {
  /** All token bridges that Wormhole's SDK knows on this network; absent: none. */
  readonly everySource?: keyof typeof tokenBridgeEmitters | undefined
  /** Wormhole chain id → emitter (64 lower-case hex digits). It outranks the SDK's. */
  readonly emitters: Readonly<Record<string, string>>
}

export interface EmitterWithoutNode {
  /** Wormhole's number of the chain. */
  readonly emitterChain: number
  /** 64 lower-case hex digits. */
  readonly emitter: string
  readonly sourceChain: ChainName
}

/** The token bridges that are listened to without a node of their chain. @param own Wormhole's numbers of the config's chains, which have nodes */
export function emittersWithoutNode(
  { everySource, emitters }: EmittersWithoutNode,
  own: ReadonlySet<number>,
): readonly EmitterWithoutNode[] {
  const known = everySource ? tokenBridgeEmitters[everySource].map(([chain, , emitter]) => [chain, emitter] as const) : []
  const named = Object.entries(emitters).map(([chain, emitter]) => [Number(chain), emitter] as const)
  return [...new Map([...known, ...named])]
    .filter(([chain]) => !own.has(chain))
    .map(([emitterChain, emitter]) => ({ emitterChain, emitter, sourceChain: unconfiguredSource(emitterChain) }))
}

export interface SourceWithoutNodeOptions extends EmitterWithoutNode, Pick<TokenBridgeSourceOptions, 'targets' | 'maxOpen'> {
  readonly first?: string | undefined
}

/** The messages of a token bridge on a chain without a node of ours: guardians sign them, and their numbers are all that is known of how many there are. */
export function createSourceWithoutNode({
  emitterChain,
  emitter,
  sourceChain,
  targets,
  first,
  maxOpen,
}: SourceWithoutNodeOptions): SignedSource {
  return {
    kind: 'signed',
    config: {
      stream: streamOf(sourceChain, emitter),
      // There is no network id to be asked for, and Wormhole's mainnet and testnet have other emitters; those of a few chains are the same on both.
      origin: `${sourceChain}/${emitter}`,
      first: first ?? '0',
      maxOpen,
    },
    bridge: wormholeTokenBridge,
    sourceChain,
    emitterChain,
    emitter,
    begins: first === undefined ? {} : { first },
    withoutNode: { judges: [...targets.keys()] },
    highest: async () => undefined,
    published: async () => [],
    delivered: createDelivered(targets),
  }
}
