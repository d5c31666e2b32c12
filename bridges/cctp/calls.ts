import { Interface } from 'ethers'
import type { Log } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { decodeBytesCall, encodeBytesCall, provedBy, selectorOf, unproved } from '../kit/calls.ts'
import type { ProvedSource } from '../port.ts'
import type { Attested } from './attesters.ts'
import { contentOf } from './routes.ts'
import { proofRefusals, type Verify } from './verify.ts'

export const receiveSelector = selectorOf('receiveMessage(bytes,bytes)')

export const sentTopic = new Interface(['event MessageSent(bytes message)']).getEvent('MessageSent')?.topicHash ?? ''

/**
 * Reads the message in a MessageSent log. Throws NODE_REFUSED for another event, and for data that is not exactly one
 * `bytes`.
 */
export function sentMessage({ topics, data }: Pick<Log, 'topics' | 'data'>): Uint8Array {
  const [bytes] = decodeBytesCall(`0x00000000${data.slice(2)}`) ?? []
  if (bytes && topics.length === 1 && topics[0]?.toLowerCase() === sentTopic && data.startsWith('0x')) return bytes
  throw new RelayerError('NODE_REFUSED', { detail: 'A node answered with a log that is not a MessageSent event.' })
}

export function receiveIntent(transmitter: string, { bytes, attestation }: Attested): Intent {
  return { to: transmitter, data: encodeBytesCall(receiveSelector, bytes, attestation), value: '0' }
}

/** Undefined unless the data is exactly what `receiveIntent` makes. */
export function decodeReceive(data: string): Attested | undefined {
  const [bytes, attestation] = (data.slice(0, 10).toLowerCase() === receiveSelector && decodeBytesCall(data, 2)) || []
  return bytes && attestation && { bytes, attestation }
}

/** Makes `Endpoint.proveCall`: the attesters' signatures in the calldata prove the call. */
export function createProveCall(verify: Verify) {
  return async function proveCall({ to, data, value }: Intent): Promise<readonly ProvedSource[]> {
    const received = decodeReceive(data)
    if (value !== '0') throw unproved('It carries coins.', { to, value })
    if (!received) throw unproved('It is not an exactly encoded receiveMessage.', { to, selector: data.slice(0, 10) })
    const route = await provedBy(() => verify(received), proofRefusals)
    if (to.toLowerCase() !== route.to.transmitter) throw unproved('It does not call the MessageTransmitter of the message.', { to })
    const { recipient, token } = contentOf(received.bytes, route)
    return [{ sourceChain: route.source.chain, parties: { recipient, token } }]
  }
}
