import type { Heads } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { decodeBase64 } from 'ethers'
import { attestByVaa, type FindVaa } from '../kit/find-vaa.ts'
import type { PaidProduct } from '../kit/paid.ts'
import { demandFinal } from '../kit/placed-logs.ts'
import { createPluginDecode, createPluginEndpoint, createPluginMessages, type PluginEndpointOptions } from '../kit/plugin-bridge.ts'
import { publishedIn, type SourceReader } from '../kit/published.ts'
import type { ChainNames } from '../kit/signed-messages.ts'
import type { Endpoint } from '../port.ts'
import { createNtt, type NttDeployment } from './ntt.ts'

/** 64 lower-case hex digits each. */
export interface NttAsked {
  readonly manager: string
  readonly messageId: string
}

interface Source {
  readonly chain: SourceReader & { readonly heads: Pick<Heads, 'current'> }
  readonly core: string
  readonly wormholeChainId: number
}

type Target = Omit<PluginEndpointOptions, 'chainNames'>

export interface PaidNttOptions {
  readonly deployments: readonly NttDeployment[]
  readonly chainNames: ChainNames
  readonly sources: ReadonlyMap<ChainName, Source>
  readonly targets: ReadonlyMap<ChainName, Target>
  readonly findVaa: FindVaa
}

/** Delivers NTT transfers that requests pay for. Each transceiver sends its own message, with its own VAA. */
export function createPaidNtt({ deployments, chainNames, sources, targets, findVaa }: PaidNttOptions): PaidProduct<NttAsked> {
  const plugin = createNtt(deployments, chainNames)
  const messages = createPluginMessages(plugin, chainNames)
  const decode = createPluginDecode(plugin, messages)
  const contentOf = ({ message }: Pick<Transfer, 'message'>) => messages.read(message).message.content
  const isAsked = (transfer: Transfer, source: ChainName, { manager, messageId }: NttAsked) => {
    const content = contentOf(transfer)
    return transfer.sourceChain === source && content.sourceManager === manager && content.messageId === messageId
  }

  function endpointOn(target: Target): Endpoint {
    return {
      ...createPluginEndpoint(plugin, messages, { ...target, chainNames }),
      async attest({ sourceId, emitter, sequence, message }) {
        if (parseVaa(decodeBase64(message)).signatures.length > 0) return undefined
        return attestByVaa(findVaa, target.verify, { chain: Number(sourceId), emitter, sequence })
      },
    }
  }

  return {
    endpoints: new Map([...targets].map(([name, target]) => [name, endpointOn(target)])),
    async transfersOf({ source, target, height, txHash }, asked) {
      const own = sources.get(source)
      if (!own) throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { facts: { chain: source } })
      const { chain, core, wormholeChainId: emitterChain } = own
      demandFinal(chain, height)
      const peers = deployments.flatMap((one) => one.peers[source] ?? [])
      const emitters = peers.flatMap(({ manager, transceivers }) => (manager === asked.manager ? transceivers : []))
      const range = { fromBlock: height, toBlock: height, transaction: txHash }
      const published = await Promise.all(
        emitters.map((emitter) =>
          publishedIn(chain, { sourceChain: source, emitterChain, emitter, core }, range, { decode, at: 'agreed' }),
        ),
      )
      const transfers = published.flat().flatMap(({ content }) => (content?.kind === 'transfer' ? [content.transfer] : []))
      return transfers.filter((one) => one.targetChain === target && isAsked(one, source, asked))
    },
    // No read of the source is needed: the guardians' signatures prove the message's place and content.
    isAskedFor: async ({ source }, asked, transfer) => isAsked(transfer, source, asked),
    paysDropOff: (transfer) => contentOf(transfer).place === 0,
    decode,
    content: messages.about.content,
  }
}
