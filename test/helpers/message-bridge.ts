import { AbiCoder, encodeBase64, getBytes, hexlify, id, type Interface, keccak256 } from 'ethers'
import type { Bridge, Endpoint, PlacedSource } from '../../bridges/port.ts'
import { createPlacedLogs, emitterOf, placedRefusals } from '../../bridges/kit/placed-logs.ts'
import { read } from '../../bridges/kit/contract-reader.ts'
import { findDelivery } from '../../bridges/kit/logs.ts'
import { provedBy, unproved } from '../../bridges/kit/calls.ts'
import { toVerdict } from '../../bridges/kit/verdict.ts'
import type { EvmChain } from '../../chains/evm/index.ts'
import { isLogOf, type PlacedLog } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { compiledArtifact } from '../../lab/devnet/chain/solidity.ts'

export const messageBridge = 'messages'

const sentTopic = id('MessageSent(bytes)')
const receivedTopic = id('MessageReceived(bytes32,address)')
const coder = AbiCoder.defaultAbiCoder()
const types = ['uint64', 'address', 'bytes']

interface MessageBridgeOptions {
  readonly source: EvmChain
  readonly target: EvmChain
  readonly contract: string
}

interface SourceSettings {
  readonly startBlock?: number | undefined
  readonly maxOpen: number
}

/** A bridge for MessageLog.sol, which only tests have. Its messages have no numbers and no signatures. */
export interface MessageBridge extends Bridge {
  add(contract: string, settings: SourceSettings): PlacedSource
}

export async function createMessageBridge(options: MessageBridgeOptions): Promise<MessageBridge> {
  const { source: chain, target } = options
  const { abi } = await compiledArtifact('MessageLog')
  const decode = createDecode(options)
  const contracts = new Map<string, ReturnType<typeof createPlacedLogs>>()
  const sources: PlacedSource[] = []
  async function verify(message: Uint8Array): Promise<void> {
    const transfer = decode(message)
    const placed = contracts.get(transfer.emitter)
    if (!placed) throw new RelayerError('PLACE_MISMATCH')
    await placed.verify(transfer)
  }
  const endpoint = createEndpoint(options, abi, verify)
  return {
    name: messageBridge,
    decode,
    content: () => ({}),
    endpoints: new Map([[target.name, endpoint]]),
    sources,
    add(contract, settings) {
      const placed = createPlacedLogs({
        ...{ chain, bridge: messageBridge, contract, topics: [sentTopic], startBlock: settings.startBlock, maxOpen: settings.maxOpen },
        decode: (log, number) => decode(getBytes(coder.encode(types, [BigInt(number), contract, payloadOf(abi, log)]))),
        isDelivered: (transfer, at) => endpoint.delivered(transfer, at),
      })
      contracts.set(placed.source.emitter, placed)
      sources.push(placed.source)
      return placed.source
    },
  }
}

function payloadOf(abi: Interface, { topics, data }: PlacedLog): string {
  try {
    return String(abi.decodeEventLog('MessageSent', data, topics)[0])
  } catch {
    throw new RelayerError('NODE_REFUSED', { detail: 'A node answered with a log that is no MessageSent.' })
  }
}

function createDecode({ source, target }: MessageBridgeOptions) {
  return (message: Uint8Array): Transfer => {
    const [place, contract, payload] = valuesOf(message)
    if (getBytes(payload)[0] !== 1) throw new RelayerError('PAYLOAD_KIND')
    return {
      ...{ bridge: messageBridge, sourceChain: source.name, sourceId: source.networkId, targetChain: target.name },
      ...{ emitter: emitterOf(contract), sequence: String(place), digest: keccak256(payload), message: encodeBase64(message) },
    }
  }
}

function valuesOf(message: Uint8Array): readonly [place: bigint, contract: string, payload: string] {
  const [place, contract, payload] = coder.decode(types, message) as unknown as [bigint, string, string]
  return [place, contract, payload]
}

function createEndpoint(
  { source, target: chain, contract }: MessageBridgeOptions,
  abi: Interface,
  verify: (message: Uint8Array) => Promise<void>,
): Endpoint {
  const selector = abi.getFunction('receiveMessage')!.selector
  const bytesOf = ({ message }: Transfer) => Buffer.from(message, 'base64')
  const receivedLog = ({ digest }: Transfer) => ({ address: contract, topics: [receivedTopic, digest] })
  return {
    chain: chain.name,
    verify: (message) => toVerdict(verify(message), placedRefusals),
    validate: (transfer) => toVerdict(verify(bytesOf(transfer)), placedRefusals),
    async delivered({ digest }, at) {
      const [isReceived] = await read(chain, { abi, to: contract, method: 'isReceived', args: [digest], at })
      return isReceived === true
    },
    findDelivery: (transfer) => findDelivery(chain, receivedLog(transfer)),
    delivery: (transfer) => ({
      call: async () => {
        return { to: contract, data: abi.encodeFunctionData('receiveMessage', valuesOf(bytesOf(transfer))), value: '0' }
      },
      parties: { bridge: messageBridge, targetChain: chain.name, recipient: contract, token: `${transfer.sourceId}/${transfer.emitter}` },
      revertsOnceDelivered: true,
    }),
    calls: { [contract]: [selector] },
    async proveCall({ data }) {
      const values = abi.decodeFunctionData('receiveMessage', data)
      if (abi.encodeFunctionData('receiveMessage', values) !== data) throw unproved('It is not exactly encoded.', { selector })
      await provedBy(() => verify(getBytes(coder.encode(types, values.toArray()))), placedRefusals)
      return [source.name]
    },
    explainRevert: ({ reason }) =>
      reason.includes('already received') ? { kind: 'delivered' } : { kind: 'unknown', code: 'DELIVERY_REVERTED', reason },
    hasEffect: ({ status, logs }, transfer) => status === 'success' && logs.some(isLogOf(receivedLog(transfer))),
  }
}

/** The payload of a message with this text. With another first byte, the message belongs to another bridge. */
export function payloadFor(text: string, firstByte = 1): string {
  return hexlify(new Uint8Array([firstByte, ...new TextEncoder().encode(text)]))
}
