import { unconfiguredSource } from '../../domain/transfer/transfer.ts'
import type { Emitter } from '../kit/published.ts'
import { tokenBridgeEmitters } from './emitters.ts'

interface EmittersWithoutNode {
  /** Network whose token bridges in Wormhole's SDK are all sources. */
  readonly everySource?: keyof typeof tokenBridgeEmitters | undefined
  /** Wormhole chain id → emitter (64 lower-case hex digits). Replaces the SDK's emitter. */
  readonly emitters: Readonly<Record<string, string>>
}

export function emittersWithoutNode({ everySource, emitters }: EmittersWithoutNode, own: ReadonlySet<number>): Emitter[] {
  const known = everySource ? tokenBridgeEmitters[everySource].map(([chain, , emitter]) => [chain, emitter] as const) : []
  const named = Object.entries(emitters).map(([chain, emitter]) => [Number(chain), emitter] as const)
  return [...new Map([...known, ...named])]
    .filter(([chain]) => !own.has(chain))
    .map(([emitterChain, emitter]) => ({ emitterChain, emitter, sourceChain: unconfiguredSource(emitterChain) }))
}
