import type { BlockRef, Log } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { DeliveryLog } from '../common/find-delivery.ts'
import type { PlacedLog } from '../common/logs.ts'
import { nativeBridgeAbi } from './contracts.ts'
import { checkId, type NativeTransfer, transferOfCompletion } from './message.ts'

/** A transfer as an event tells of it. */
export interface TransferEvent {
  readonly transfer: NativeTransfer
  readonly block: BlockRef
  readonly txHash: string
}

/** topic0 of the two events, lower case. */
export const initiatedTopic = topicOf('BridgeTransferInitiated')
export const completedTopic = topicOf('BridgeTransferCompleted')

/** BridgeTransferInitiated(id, originator, recipient, amount, nonce). Throws NATIVE_ID_MISMATCH, NODE_REFUSED (it is not this event). */
export function readInitiated(log: PlacedLog): TransferEvent {
  const [id, initiator, recipient, amount, nonce] = argumentsOf(log, 'BridgeTransferInitiated')
  return placed(log, { id, initiator, recipient, amount, nonce })
}

/** BridgeTransferCompleted(id, originator, recipient, amount, nonce): the transfer as its source knows it. Throws as `readInitiated`. */
export function readCompleted(log: PlacedLog): TransferEvent {
  return placed(log, transferOfCompletion(argumentsOf(log, 'BridgeTransferCompleted')))
}

/** Does a log of the contract show the completion of this transfer? One that cannot be read, or contradicts itself, shows nothing: a node made it up. */
export function showsCompletion(log: PlacedLog, { id, nonce }: Pick<NativeTransfer, 'id' | 'nonce'>): boolean {
  try {
    const { transfer } = readCompleted(log)
    return transfer.id === id && transfer.nonce === nonce
  } catch (error) {
    if (error instanceof RelayerError) return false
    throw error
  }
}

/** Where the completion of this transfer is found. */
export function completionLog(bridge: string, transfer: Pick<NativeTransfer, 'id' | 'nonce'>): DeliveryLog {
  return { address: bridge, topics: [completedTopic, transfer.id], shows: (log) => showsCompletion(log, transfer) }
}

function placed({ block, transactionHash }: PlacedLog, transfer: NativeTransfer): TransferEvent {
  checkId(transfer)
  return { transfer, block, txHash: transactionHash }
}

function argumentsOf({ topics, data }: Log, name: string): [string, string, string, bigint, bigint] {
  try {
    const event = nativeBridgeAbi.getEvent(name)
    if (!event || topics[0]?.toLowerCase() !== event.topicHash) throw new Error(`not a ${name}`)
    const [id, initiator, recipient, amount, nonce] = nativeBridgeAbi.decodeEventLog(event, data, topics).toArray() as unknown[]
    return [lower(id), lower(initiator), lower(recipient), amount as bigint, nonce as bigint]
  } catch (cause) {
    throw new RelayerError('NODE_REFUSED', { detail: `A node answered with a log that is no ${name}.`, cause })
  }
}

function lower(value: unknown): string {
  return String(value).toLowerCase()
}

function topicOf(name: string): string {
  const topic = nativeBridgeAbi.getEvent(name)?.topicHash
  if (topic === undefined) throw new RelayerError('INTERNAL', { detail: `The ABI has no event ${name}.` })
  return topic
}
