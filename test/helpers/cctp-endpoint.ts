import { decodeBase64, solidityPackedKeccak256 } from 'ethers'
import type { Attested } from '../../bridges/cctp/attesters.ts'
import { type CarriedMessage, readCarried, writeCarried } from '../../bridges/cctp/carried.ts'
import { createEvmEndpoint, type EvmEndpointOptions } from '../../bridges/cctp/evm.ts'
import { type CctpMessage, readMessage, zeroWord } from '../../bridges/cctp/message.ts'
import { createDecode } from '../../bridges/cctp/routes.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { createIris } from '../../intake/submit/iris.ts'
import { baseTransmitters, burnBytes, carriedOf, cctpRoutes, headsAt, irisWithoutChains, transmitterReader, txOf } from './cctp.ts'

export const lane = `0x${'1a'.repeat(20)}`
export const decode = createDecode(cctpRoutes)
export const loggedV2 = (fields: Partial<CctpMessage> = {}) => burnBytes(2, { nonce: zeroWord, finalityExecuted: 0, ...fields })
export const transferOf = (bytes: Uint8Array, fields: Partial<CarriedMessage> = {}) =>
  decode(writeCarried(carriedOf(bytes, { txHash: txOf(bytes), ...fields })))

export interface NetworkOptions extends Partial<EvmEndpointOptions> {
  readonly fastBlocks?: number
  /** Changes the messages in an answer of the API. */
  readonly answer?: (messages: readonly Attested[]) => readonly Attested[]
  readonly reattest?: EvmEndpointOptions['apis']['reattest']
}

export async function network({ answer = (messages) => messages, reattest, ...options }: NetworkOptions = {}) {
  const { chain, state } = transmitterReader()
  const iris = await irisWithoutChains({ fastBlocks: options.fastBlocks ?? 7_200 })
  const recorded: CarriedMessage[] = []
  const apis = createIris({ urls: [iris.api.url], perSecond: 1_000, timeoutMs: 3_000 })
  const endpoint = createEvmEndpoint({
    chain: {
      ...chain,
      heads: { ...headsAt(100), start: async () => {}, stop() {}, subscribe: () => () => {} },
      logs: async () => [],
      transactionSender: async () => undefined,
    },
    ...{ routes: cctpRoutes, transmitters: baseTransmitters, lanes: [lane], finality: 'fast', ownHeights: true },
    apis: {
      ...apis,
      ...(reattest && { reattest }),
      ofTransaction: (place, pick) => apis.ofTransaction(place, (messages) => pick(answer(messages))),
    },
    recorded: async (carried) => void recorded.push(carried),
    ...options,
  })
  const asked = (what: string) => iris.api.requests.filter((path) => path.includes(what)).length
  return { ...iris, state, endpoint, recorded, asked }
}

type Endpoint = Awaited<ReturnType<typeof network>>['endpoint']

export async function attested(endpoint: Endpoint, transfer: Transfer): Promise<Transfer> {
  const answer = await endpoint.attest?.(transfer)
  if (answer?.kind !== 'attested') throw new Error(`${transfer.sequence} is not attested: ${JSON.stringify(answer)}`)
  return { ...transfer, message: Buffer.from(answer.message).toString('base64') }
}

/** The lab's Iris makes the nonce of a message from the domain, the transaction's hash and the log's index. */
export const nonceOf = (bytes: Uint8Array) => solidityPackedKeccak256(['string'], [`0 ${txOf(bytes)} 0`])
export const messageOf = ({ message }: Transfer) => readMessage(readCarried(decodeBase64(message)).bytes)
