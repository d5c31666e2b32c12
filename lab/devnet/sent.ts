import { transferId } from '../../temporal/contracts/names.ts'
import type { SentExecution } from './executor/network.ts'
import type { SentNativeTransfer } from './native/native-users.ts'
import type { SentNttTransfer } from './ntt/ntt-users.ts'
import type { SentTransfer } from './wormhole/users.ts'

/** A users' transfer over any bridge. */
export type AnySent = SentTransfer | SentNativeTransfer | SentNttTransfer | SentExecution

export function isNative(sent: AnySent): sent is SentNativeTransfer {
  return 'nonce' in sent
}

export function isNtt(sent: AnySent): sent is SentNttTransfer {
  return 'messages' in sent
}

export function isExecution(sent: AnySent): sent is SentExecution {
  return 'dropOff' in sent
}

/** The lists of each bridge, in the order of their parameters in the checker. */
export type SentByBridge = [
  wormhole: readonly SentTransfer[],
  native?: readonly SentNativeTransfer[],
  ntt?: readonly SentNttTransfer[],
  executions?: readonly SentExecution[],
]

export function byBridge(sent: readonly AnySent[]): SentByBridge {
  const wormhole = sent.filter((one): one is SentTransfer => !isNative(one) && !isNtt(one) && !isExecution(one))
  return [wormhole, sent.filter(isNative), sent.filter(isNtt), sent.filter(isExecution)]
}

/** `source:emitter:sequence`, the source by its name. */
export function keyOf(sent: AnySent): string {
  return `${sent.source}:${sent.emitter}:${isNative(sent) ? sent.nonce : sent.sequence}`
}

/** The id of a native transfer's workflow. */
export function nativeTransferId({ sourceNetworkId, emitter, nonce, id }: SentNativeTransfer): string {
  return transferId({
    bridge: 'native-bridge',
    sourceId: String(sourceNetworkId),
    emitter,
    sequence: String(nonce),
    digest: id,
  })
}
