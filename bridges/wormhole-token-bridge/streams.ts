import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import type { SignedSource } from '../source-port.ts'
import { askMostIf, type ContractReader, type Finality, read } from '../kit/contract-reader.ts'
import { coreAbi, isCompleted } from './contracts.ts'
import { wormholeTokenBridge } from './message.ts'
import { type Emitter, publishedIn, type SourceReader } from './published.ts'

export interface TokenBridgeSourceOptions extends Emitter {
  readonly chain: SourceReader & { readonly networkId: string }
  readonly targets: ReadonlyMap<ChainName, { readonly chain: ContractReader; readonly tokenBridge: string }>
  readonly begins: SignedSource['begins']
  readonly maxOpen: number
}

/** A token bridge's messages as a numbered source. The core contract's count and logs prove what must exist. */
export function createTokenBridgeSource(options: TokenBridgeSourceOptions): SignedSource {
  const { chain, core, sourceChain, emitterChain, emitter, targets, begins, maxOpen } = options
  const account = `0x${emitter.slice(24)}`

  return {
    kind: 'signed',
    config: {
      stream: streamOf(sourceChain, emitter),
      // The stream id has the emitter. The core contract counts.
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

/** @param source the name or Wormhole chain id of its chain */
export function streamOf(source: ChainName | number, emitter: string): string {
  return `${wormholeTokenBridge}:${source}:${emitter}`
}

export function createDelivered(targets: TokenBridgeSourceOptions['targets']): SignedSource['delivered'] {
  async function isDelivered({ targetChain, digest }: Pick<Transfer, 'targetChain' | 'digest'>, at: Finality): Promise<boolean> {
    const target = targets.get(targetChain)
    return target !== undefined && isCompleted(target.chain, target.tokenBridge, digest, at)
  }
  return async (transfers) => {
    // A delivered number is never started, so others confirm one node's word.
    const shown = await askMostIf(transfers, isDelivered, (delivered) => delivered)
    return shown.map((delivered) => delivered === true)
  }
}
