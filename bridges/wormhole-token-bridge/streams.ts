import { unconfiguredSource, type ChainName, type Transfer } from '../../domain/transfer/transfer.ts'
import type { SignedSource } from '../port.ts'
import { askMostIf, type ContractReader, type Finality, read } from '../kit/contract-reader.ts'
import { coreAbi, isCompleted } from './contracts.ts'
import { wormholeTokenBridge } from './message.ts'
import { type Emitter, type EmitterWithNode, publishedIn, type SourceReader } from './published.ts'
import { tokenBridgeEmitters } from './emitters.ts'

type CountingChain = SourceReader & { readonly networkId: string }

interface SourceOptions {
  readonly targets: ReadonlyMap<ChainName, { readonly chain: ContractReader; readonly tokenBridge: string }>
  readonly begins: SignedSource['begins']
  readonly maxOpen: number
}

/** A token bridge's messages as a numbered source. The core contract's count and logs prove which messages exist. */
export function createTokenBridgeSource(options: SourceOptions & EmitterWithNode & { readonly chain: CountingChain }): SignedSource {
  const { chain, core, emitter } = options
  return {
    // The core contract is the origin, because it counts the messages. The emitter is in the stream id.
    ...sourceOf(options, `${chain.networkId}/${core.toLowerCase()}`),
    async highest() {
      const args = [`0x${emitter.slice(24)}`]
      const [next] = await read(chain, { abi: coreAbi, to: core, method: 'nextSequence', args, at: 'agreed' })
      return next === 0n ? undefined : String(BigInt(next) - 1n)
    },
    published: (range, wanted = () => true, at) => publishedIn(chain, options, range, wanted, at),
  }
}

/** For a source without a node. Guardians sign its messages. Only received messages show which numbers exist. */
export function createSourceWithoutNode(options: SourceOptions & Emitter): SignedSource {
  const { sourceChain, emitter, targets } = options
  return {
    // The origin has no network id. The emitter differs between mainnet and testnet on all but a few chains.
    ...sourceOf(options, `${sourceChain}/${emitter}`),
    withoutNode: { judges: [...targets.keys()] },
    highest: async () => undefined,
    published: async () => [],
  }
}

function sourceOf({ sourceChain, emitterChain, emitter, targets, begins, maxOpen }: SourceOptions & Emitter, origin: string) {
  return {
    kind: 'signed',
    config: { stream: streamOf(sourceChain, emitter), origin, first: begins.first ?? '0', maxOpen },
    bridge: wormholeTokenBridge,
    sourceChain,
    emitterChain,
    emitter,
    begins,
    delivered: createDelivered(targets),
  } as const
}

/** @param source the name or Wormhole chain id of its chain */
export function streamOf(source: ChainName | number, emitter: string): string {
  return `${wormholeTokenBridge}:${source}:${emitter}`
}

function createDelivered(targets: SourceOptions['targets']): SignedSource['delivered'] {
  async function isDelivered({ targetChain, digest }: Pick<Transfer, 'targetChain' | 'digest'>, at: Finality): Promise<boolean> {
    const target = targets.get(targetChain)
    return target !== undefined && isCompleted(target.chain, target.tokenBridge, digest, at)
  }
  return async (transfers) => {
    // A number that counts as delivered is never started, so most nodes are asked if one node shows the delivery.
    const shown = await askMostIf(transfers, isDelivered, (delivered) => delivered)
    return shown.map((delivered) => delivered === true)
  }
}

interface EmittersWithoutNode {
  /** All token bridges of Wormhole's SDK on this network. Absent: none. */
  readonly everySource?: keyof typeof tokenBridgeEmitters | undefined
  /** Wormhole chain id → emitter (64 lower-case hex digits). Replaces the SDK's emitter. */
  readonly emitters: Readonly<Record<string, string>>
}

/** @param own Wormhole chain ids of the config's chains */
export function emittersWithoutNode({ everySource, emitters }: EmittersWithoutNode, own: ReadonlySet<number>): Emitter[] {
  const known = everySource ? tokenBridgeEmitters[everySource].map(([chain, , emitter]) => [chain, emitter] as const) : []
  const named = Object.entries(emitters).map(([chain, emitter]) => [Number(chain), emitter] as const)
  return [...new Map([...known, ...named])]
    .filter(([chain]) => !own.has(chain))
    .map(([emitterChain, emitter]) => ({ emitterChain, emitter, sourceChain: unconfiguredSource(emitterChain) }))
}
