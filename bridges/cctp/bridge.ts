import { decodeBase64, encodeBase64 } from 'ethers'
import type { PlacedLog } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { placeOf } from '../../domain/stream/places.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import { createDecimals } from '../kit/decimals.ts'
import type { PaidPlace, PaidProduct } from '../kit/paid.ts'
import { createPlacedLogs, type PlacedLogsOptions } from '../kit/placed-logs.ts'
import type { Bridge } from '../port.ts'
import type { AttestationApis } from './attest.ts'
import { sentMessage, sentTopic } from './calls.ts'
import { type CarriedMessage, readCarried, writeCarried } from './carried.ts'
import { createEvmEndpoint, type EvmEndpointOptions } from './evm.ts'
import { addressOf, type CctpFinality, readBurn, readMessage } from './message.ts'
import { cctp, type CctpChain, contentOf, createDecode, createRoutes, type DeliveredBurns } from './routes.ts'

interface VersionSettings {
  /** 0x, lower case. */
  readonly messageTransmitter: string
  readonly tokenMessenger: string
}

export interface CctpSettings {
  readonly finality: CctpFinality
  readonly free?: true | undefined
  /** 64 lower-case hex digits. */
  readonly senders: readonly string[]
  readonly recipients: readonly string[]
  readonly chains: Readonly<
    Record<
      ChainName,
      {
        readonly domain: number
        readonly v1?: VersionSettings | undefined
        readonly v2?: VersionSettings | undefined
        readonly startBlock?: number | undefined
        readonly maxOpen: number
      }
    >
  >
}

interface ChainSettings {
  readonly networkId: number
  readonly feeModel?: string | undefined
  readonly lanes?: readonly { readonly address: string }[] | undefined
}

type ConnectedChain = EvmEndpointOptions['chain'] & PlacedLogsOptions['chain']

export interface CctpBridgeOptions extends Pick<PlacedLogsOptions, 'isDelivered'> {
  readonly settings: CctpSettings
  readonly chains: Readonly<Record<ChainName, ChainSettings>>
  readonly connected: ReadonlyMap<ChainName, ConnectedChain>
  readonly served: ReadonlyMap<ChainName, ConnectedChain>
  readonly apis: AttestationApis
}

export function cctpChains({ chains: ofCircle }: Pick<CctpSettings, 'chains'>, chains: CctpBridgeOptions['chains']): CctpChain[] {
  return Object.entries(ofCircle).map(([chain, { domain, v1, v2 }]) => {
    const contracts = { ...(v1 && { 1: contractsOf(v1) }), ...(v2 && { 2: contractsOf(v2) }) }
    return { chain, networkId: String(chains[chain]?.networkId), domain, contracts }
  })
}

function contractsOf({ messageTransmitter, tokenMessenger }: VersionSettings) {
  return { transmitter: messageTransmitter, tokenMessenger: `0x${tokenMessenger.slice(2).padStart(64, '0')}` }
}

/** The senders and recipients whose burns are delivered without a payment. */
function listedIn({ senders, recipients }: Pick<CctpSettings, 'senders' | 'recipients'>) {
  const words = (digits: readonly string[]) => digits.map((one) => `0x${one}`)
  return { senders: words(senders), recipients: words(recipients) }
}

/**
 * Delivers the burns by the senders and to the recipients that the config lists or, with `free`, all burns. Each
 * MessageTransmitter of a served chain is a placed source.
 */
export function createCctpBridge(options: CctpBridgeOptions): Bridge {
  const { settings } = options
  return createCctp(options, settings.free ? 'all' : listedIn(settings)).bridge
}

/** `v1`: the burn that a v1 request names. Absent for a v2 request, which names no burn. */
interface CctpAsked {
  readonly v1?: { readonly domain: number; /** u64, decimal. */ readonly nonce: string }
}

/**
 * Delivers the burns that requests pay for. A v2 request pays for the last burn before the request in the same
 * transaction.
 */
export function createPaidCctp(options: CctpBridgeOptions): PaidProduct<CctpAsked> {
  const { bridge, logs } = createCctp(options, { ...listedIn(options.settings), paid: true })
  const { endpoints, decode, content } = bridge

  async function transfersOf({ source, target, height, logIndex, txHash }: PaidPlace, { v1 }: CctpAsked): Promise<readonly Transfer[]> {
    const own = logs.filter(({ name }) => name === source)
    const found = await Promise.all(own.map(({ inTransaction }) => inTransaction(txHash, height)))
    const before = BigInt(placeOf(height, logIndex))
    const burns = found.flat().flatMap(({ transfer }) => {
      const { version, sourceDomain, nonce } = readMessage(readCarried(decodeBase64(transfer.message)).bytes)
      const isAsked = v1 ? version === 1 && sourceDomain === v1.domain && BigInt(nonce) === BigInt(v1.nonce) : version === 2
      return isAsked && BigInt(transfer.sequence) < before ? [transfer] : []
    })
    // All of them are burns of one contract, in ascending order.
    const last = burns.at(-1)
    return last?.targetChain === target ? [last] : []
  }

  return {
    ...{ endpoints, decode, content, transfersOf },
    // Each request asks for one burn, so every delivery pays the drop-off.
    paysDropOff: () => true,
    async isAskedFor(place, asked, { sequence, emitter, digest }) {
      const [burn] = await transfersOf(place, asked)
      return burn?.sequence === sequence && burn.emitter === emitter && burn.digest === digest
    },
  }
}

function createCctp({ settings, chains, connected, served, apis, isDelivered }: CctpBridgeOptions, burns: DeliveredBurns) {
  const ends = cctpChains(settings, chains)
  const routes = createRoutes(ends, burns)
  const decode = createDecode(routes)
  const logsOf = ({ chain: name, contracts }: CctpChain) => {
    const [chain, own] = [connected.get(name), settings.chains[name]]
    if (!chain || !own) return []
    return Object.values(contracts).map(({ transmitter: contract }) => {
      const place = { chain, bridge: cctp, contract, topics: [sentTopic], startBlock: own.startBlock, maxOpen: own.maxOpen }
      return { name, contract, ...createPlacedLogs({ ...place, decode: createLogDecode(decode), isDelivered }) }
    })
  }
  const logs = ends.flatMap(logsOf)

  const recorded: EvmEndpointOptions['recorded'] = async (carried, { source, from }) => {
    const own = logs.find(({ name, contract }) => name === source.chain && contract === from.transmitter)
    if (!own) throw new RelayerError('CONFIG_INVALID', { detail: `The message was sent on ${source.chain}, which is not connected.` })
    await own.verify({ sequence: carried.number, message: encodeBase64(writeCarried(carried)) })
  }

  const kept = createDecimals()
  const read = (bytes: Uint8Array) => {
    const { bytes: own } = readCarried(bytes)
    const message = readMessage(own)
    return { own, token: addressOf(readBurn(message).token), route: routes.of(message) }
  }
  const decimals = (bytes: Uint8Array) => {
    const { token: address, route } = read(bytes)
    const chain = connected.get(route.source.chain)
    return kept(`${route.source.chain}/${address}`, async () => chain && { chain, address })
  }
  const endpoints = ends.flatMap(({ chain: name, contracts }) => {
    const chain = served.get(name)
    const { lanes = [], feeModel } = chains[name] ?? {}
    const ofTarget = {
      transmitters: Object.values(contracts).map(({ transmitter }) => transmitter),
      lanes: lanes.map(({ address }) => address.toLowerCase()),
      finality: settings.finality,
      // On Arbitrum, contracts see Ethereum's block numbers.
      ownHeights: feeModel !== 'arbitrum',
    }
    return chain ? [[name, createEvmEndpoint({ chain, routes, apis, recorded, decimals, ...ofTarget })] as const] : []
  })
  const bridge: Bridge = {
    name: cctp,
    decode,
    content(bytes) {
      const { own, route } = read(bytes)
      return contentOf(own, route)
    },
    endpoints: new Map(endpoints),
    sources: logs.flatMap(({ name, source }) => (served.has(name) ? [source] : [])),
  }
  return { bridge, logs }
}

/** All MessageSent logs of a transaction → the indices of the logs with the same data. */
const known = new WeakMap<readonly PlacedLog[], ReadonlyMap<string, readonly number[]>>()

/** Compares all logs of a transaction at once, because strangers can log thousands of messages in a transaction. */
function indicesByData(logs: readonly PlacedLog[]): ReadonlyMap<string, readonly number[]> {
  const found = known.get(logs)
  if (found) return found
  const indices = new Map<string, number[]>()
  for (const { data, index } of logs) {
    const equal = indices.get(data.toLowerCase())
    if (equal) equal.push(index)
    else indices.set(data.toLowerCase(), [index])
  }
  known.set(logs, indices)
  return indices
}

/**
 * Reads a message from its MessageSent log. `siblings` are all MessageSent logs of the transaction. Throws
 * NODE_REFUSED.
 */
export function carriedIn(...[log, number, siblings]: Parameters<PlacedLogsOptions['decode']>): CarriedMessage {
  const bytes = sentMessage(log)
  const equal = indicesByData(siblings).get(log.data.toLowerCase()) ?? []
  const twin = equal.indexOf(log.index)
  const place = { number, txHash: log.transactionHash.toLowerCase(), twin, twins: equal.length }
  return { ...place, attestation: new Uint8Array(), bytes }
}

export function createLogDecode(decode: Bridge['decode']): PlacedLogsOptions['decode'] {
  return (...place) => decode(writeCarried(carriedIn(...place)))
}
