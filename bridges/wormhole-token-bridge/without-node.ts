import type { ChainName } from '../../domain/transfer/transfer.ts'
import { unconfiguredSource } from '../../domain/transfer/unconfigured-source.ts'
import type { SignedSource } from '../source-port.ts'
import { tokenBridgeEmitters } from './emitters.ts'
import { createDelivered, streamOf, type TokenBridgeSourceOptions } from './streams.ts'
import { wormholeTokenBridge } from './message.ts'

export interface EmittersWithoutNode {
  /** All token bridges of Wormhole's SDK on this network. Absent: none. */
  readonly everySource?: keyof typeof tokenBridgeEmitters | undefined
  /** Wormhole chain id → emitter (64 lower-case hex digits). Replaces the SDK's. */
  readonly emitters: Readonly<Record<string, string>>
}

export interface EmitterWithoutNode {
  /** Wormhole chain id. */
  readonly emitterChain: number
  /** 64 lower-case hex digits. */
  readonly emitter: string
  readonly sourceChain: ChainName
}

/** @param own Wormhole chain ids of the config's chains */
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

/** Guardians sign its messages, and only received numbers show how many there are. */
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
      // Without a network id. Emitters of mainnet and testnet differ, except on a few chains.
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
