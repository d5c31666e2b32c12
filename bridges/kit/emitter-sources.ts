import type { BridgeName, ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import type { SignedSource } from '../port.ts'
import { deliveredBy, type Finality, read } from './contract-reader.ts'
import { coreAbi } from './signed-messages.ts'
import { type Decode, type Emitter, type EmitterWithNode, publishedIn, type SourceReader } from './published.ts'

type CountingChain = SourceReader & { readonly networkId: string }

export interface SignedMessages {
  readonly decode: Decode
  /** Decodes messages that logs of their source show. A plug-in may say that such a message is not its own. */
  readonly decodePublished: Decode
  isDelivered(transfer: Transfer, at: Finality): Promise<boolean>
}

interface SourceOptions {
  readonly messages: SignedMessages
  readonly bridge: BridgeName
  readonly owners: readonly BridgeName[]
  readonly prefix: string
  readonly begins: SignedSource['begins']
  readonly maxOpen: number
}

/** A source with a node: the core contract proves which messages exist. */
export function createEmitterSource(options: SourceOptions & EmitterWithNode & { readonly chain: CountingChain }): SignedSource {
  const { chain, core, emitter, messages } = options
  return {
    ...sourceOf(options, `${chain.networkId}/${core.toLowerCase()}`),
    async highest() {
      const args = [`0x${emitter.slice(24)}`]
      const [next] = await read(chain, { abi: coreAbi, to: core, method: 'nextSequence', args, at: 'agreed' })
      return next === 0n ? undefined : String(BigInt(next) - 1n)
    },
    published: (range, wanted, at) => publishedIn(chain, options, range, { decode: messages.decodePublished, wanted, at }),
  }
}

/** A source without a node: only received messages show what it has sent. */
export function createSourceWithoutNode(options: SourceOptions & Emitter & { readonly judges: readonly ChainName[] }): SignedSource {
  const { sourceChain, emitter, judges } = options
  return {
    // The origin needs no network id, because almost every emitter differs between mainnet and testnet.
    ...sourceOf(options, `${sourceChain}/${emitter}`),
    withoutNode: { judges },
    highest: async () => undefined,
    published: async () => [],
  }
}

function sourceOf(
  { sourceChain, emitterChain, emitter, messages, bridge, owners, prefix, begins, maxOpen }: SourceOptions & Emitter,
  origin: string,
) {
  return {
    kind: 'signed',
    config: { stream: streamOf(prefix, sourceChain, emitter), origin, first: begins.first ?? '0', maxOpen },
    bridge,
    owners,
    sourceChain,
    emitterChain,
    emitter,
    begins,
    delivered: (transfers: readonly Transfer[]) => deliveredBy(messages.isDelivered, transfers),
  } as const
}

export function streamOf(prefix: string, source: ChainName | number, emitter: string): string {
  return `${prefix}:${source}:${emitter}`
}
