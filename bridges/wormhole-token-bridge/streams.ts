import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import type { SignedSource } from '../source-port.ts'
import { askMostIf, type ContractReader, type Finality, read } from '../kit/contract-reader.ts'
import { coreAbi, isCompleted } from './contracts.ts'
import { wormholeTokenBridge } from './message.ts'
import { type Emitter, publishedIn, type SourceReader } from './published.ts'

export interface TokenBridgeSourceOptions extends Emitter {
  readonly chain: SourceReader & { readonly networkId: string }
  /** The token bridges that this process is connected to, by chain. */
  readonly targets: ReadonlyMap<ChainName, { readonly chain: ContractReader; readonly tokenBridge: string }>
  readonly begins: SignedSource['begins']
  readonly maxOpen: number
}

/** The messages of one token bridge as a numbered source: the core contract's count and logs prove what must have been signed. */
export function createTokenBridgeSource(options: TokenBridgeSourceOptions): SignedSource {
  const { chain, core, sourceChain, emitterChain, emitter, targets, begins, maxOpen } = options
  const account = `0x${emitter.slice(24)}`

  return {
    kind: 'signed',
    config: {
      stream: streamOf(sourceChain, emitter),
      // The emitter is in the name; the core contract counts.
      origin: `${chain.networkId}/${core.toLowerCase()}`,
      first: begins.first ?? '0',
      maxOpen,
    },
    bridge: wormholeTokenBridge,
    sourceChain,
    emitterChain,
    emitter,
    begins,
    async highest() {
      const [next] = await read(chain, { abi: coreAbi, to: core, method: 'nextSequence', args: [account], at: 'agreed' })
      return next === 0n ? undefined : String(BigInt(next) - 1n)
    },
    published: (range, wanted = () => true, at) => publishedIn(chain, options, range, wanted, at),
    delivered: createDelivered(targets),
  }
}

/** The stream of an emitter. @param source the name of its chain, or Wormhole's number of the chain */
export function streamOf(source: ChainName | number, emitter: string): string {
  return `${wormholeTokenBridge}:${source}:${emitter}`
}

/** As `SignedSource.delivered`, by the token bridges of the targets. */
export function createDelivered(targets: TokenBridgeSourceOptions['targets']): SignedSource['delivered'] {
  async function isDelivered({ targetChain, digest }: Pick<Transfer, 'targetChain' | 'digest'>, at: Finality): Promise<boolean> {
    const target = targets.get(targetChain)
    return target !== undefined && isCompleted(target.chain, target.tokenBridge, digest, at)
  }
  return async (transfers) => {
    // What a node says is asked of the others before it stands: the number is then never started.
    const shown = await askMostIf(transfers, isDelivered, (delivered) => delivered)
    return shown.map((delivered) => delivered === true)
  }
}
