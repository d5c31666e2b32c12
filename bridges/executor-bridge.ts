import type { EvmChain } from '../chains/evm/index.ts'
import { chainTime } from '../chains/heads.ts'
import { executorOf } from '../config/executor.ts'
import { RelayerError } from '../domain/catalogue/errors.ts'
import { type BridgeName, type ChainName, unconfiguredSource } from '../domain/transfer/transfer.ts'
import { type BridgesOptions, emittersOf, namesOf, wormholeOf } from './configured-emitters.ts'
import type { AttestationApis } from './cctp/attest.ts'
import { createPaidCctp } from './cctp/bridge.ts'
import { cctp } from './cctp/routes.ts'
import { requestTopics } from './executor/event.ts'
import { createExecutorEndpoint, type PaidProducts, paymentOf } from './executor/evm.ts'
import { createDecode, createLogDecode, type ExecutorMessage, loggedForm, mayStart, readMessage, writeMessage } from './executor/message.ts'
import { decodeRequest, executor } from './executor/requests.ts'
import { vaaPartiesOf } from './executor/vaa-requests.ts'
import type { SignedMessages } from './kit/emitter-sources.ts'
import type { FindVaa } from './kit/find-vaa.ts'
import { createPlacedLogs } from './kit/placed-logs.ts'
import type { Decode } from './kit/published.ts'
import { ntt } from './ntt/ntt.ts'
import { createPaidNtt } from './ntt/paid.ts'
import type { Bridge, RouteWithin } from './port.ts'

interface ExecutorLinks {
  readonly signed: SignedMessages
  readonly connected: ReadonlyMap<ChainName, EvmChain>
  readonly served: ReadonlyMap<ChainName, EvmChain>
  readonly verifierOf: (name: ChainName, chain: EvmChain) => (message: Uint8Array) => Promise<void>
  readonly findVaa: FindVaa
  readonly attestations: AttestationApis
}

/** Throws CONFIG_INVALID. */
export function createExecutorBridge(options: BridgesOptions, links: ExecutorLinks): Bridge {
  const { connected, served, verifierOf, findVaa } = links
  const { isDelivered, decode: decodeSigned } = links.signed
  const within = createWithin(options, decodeSigned)
  const terms = executorOf(options)
  if (!terms) throw new RelayerError('CONFIG_INVALID', { detail: 'bridges.executor is absent.' })
  const { chains } = terms
  const decode = createDecode(chains, namesOf(options))
  const logs = new Map(
    [...chains].flatMap(([id, { name, ...place }]) => {
      const chain = connected.get(name)
      const reading = { ...place, bridge: executor, topics: requestTopics(terms.quoter), isDelivered, starts: mayStart }
      return chain ? [[id, createPlacedLogs({ ...reading, chain, decode: createLogDecode(name, id, terms, decode) })] as const] : []
    }),
  )
  const verifyRequest = async (message: ExecutorMessage) => {
    const own = logs.get(message.sourceChain)
    if (!own)
      throw new RelayerError('CONFIG_INVALID', { detail: `It was requested on chain ${message.sourceChain}, which is not connected.` })
    await own.verify(decode(writeMessage(loggedForm(message))))
  }
  const products = productsOf(options, links)
  const endpoints = [...chains].flatMap(([wormholeId, { name, caps, ...target }]) => {
    const chain = served.get(name)
    const verify = chain && verifierOf(name, chain)
    const common = { ...target, wormholeId, terms, maxMsgValue: caps.maxMsgValue, verifyRequest, decode, within, findVaa, products }
    return chain && verify ? [[name, createExecutorEndpoint({ ...common, chain, verify })] as const] : []
  })
  const isServed = (id: number) => served.has(chains.get(id)?.name ?? '')
  return {
    name: executor,
    decode,
    content(bytes) {
      const message = readMessage(bytes)
      return { ...vaaPartiesOf(message), ...contentOf(products, message), ...paymentOf(message) }
    },
    within: (bytes) => within(readMessage(bytes)),
    endpoints: new Map(endpoints),
    sources: [...logs].flatMap(([id, { source }]) => (isServed(id) ? [source] : [])),
  }
}

/** Empty for ERV1 requests, and for other requests until their message is attested. */
function contentOf(products: PaidProducts, { attested: [bytes], request }: ExecutorMessage) {
  const prefix = decodeRequest(request.request)?.prefix
  if (!bytes || prefix === 'ERV1') return {}
  return (prefix === 'ERN1' ? products.ntt : products.cctp)?.content(bytes)
}

function productsOf(options: BridgesOptions, links: ExecutorLinks): PaidProducts {
  const { chains, bridges } = options
  const { connected, served, verifierOf, findVaa, attestations: apis } = links
  const { isDelivered } = links.signed
  const deployments = bridges.ntt?.tokens.filter(({ free }) => !free) ?? []
  const sources = [...connected].map(([name, chain]) => [name, { chain, ...wormholeOf(name, chains[name]) }] as const)
  const targets = [...served].map(([name, chain]) => {
    return [name, { chain, clock: () => chainTime(chain), verify: verifierOf(name, chain) }] as const
  })
  const nttOptions = { deployments, chainNames: namesOf(options), sources: new Map(sources), targets: new Map(targets), findVaa }
  const { cctp: settings } = bridges
  return {
    ntt: deployments.length > 0 ? createPaidNtt(nttOptions) : undefined,
    cctp: settings && !settings.free ? createPaidCctp({ settings, chains, connected, served, apis, isDelivered }) : undefined,
  }
}

/**
 * Returns a function that finds the routes of the message that a request asks for. A halt of such a route also holds
 * the request.
 */
function createWithin(options: BridgesOptions, decode: Decode): (message: ExecutorMessage) => readonly RouteWithin[] {
  const names = namesOf(options)
  const sourceOf = (id: number) => names.get(id) ?? unconfiguredSource(id)
  const tokens = options.bridges.ntt?.tokens ?? []

  function ownerOf(vaa: Uint8Array): readonly BridgeName[] {
    try {
      return [decode(vaa).bridge]
    } catch {
      // No bridge owns this VAA, which is delivered only because of the request.
      return []
    }
  }

  return ({ sourceChain: id, request, attested: [vaa] }) => {
    const asked = decodeRequest(request.request)
    if (!asked) return []
    if (asked.prefix !== 'ERV1') return [{ bridge: asked.prefix === 'ERN1' ? ntt : cctp, sourceChain: sourceOf(id) }]
    const { chain, emitter } = asked
    const sourceChain = sourceOf(chain)
    const listed = emittersOf(options).filter((one) => one.emitterChain === chain && one.emitter === emitter)
    const isOfToken = tokens.some(({ peers }) => peers[sourceChain]?.transceivers.includes(emitter))
    const bridges = [executor, ...listed.map(({ bridge }) => bridge), ...(isOfToken ? [ntt] : []), ...(vaa ? ownerOf(vaa) : [])]
    return [...new Set(bridges)].map((bridge) => ({ bridge, sourceChain }))
  }
}
