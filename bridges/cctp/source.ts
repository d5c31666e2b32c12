import type { PlacedLogsOptions } from '../kit/placed-logs.ts'
import type { Bridge } from '../port.ts'
import { sentMessage } from './calls.ts'
import { type CarriedMessage, writeCarried } from './carried.ts'

/**
 * The message of a MessageSent log, not attested. `siblings`: all such logs of the transaction. Throws NODE_REFUSED.
 */
export function carriedIn(...[log, number, siblings]: Parameters<PlacedLogsOptions['decode']>): CarriedMessage {
  const bytes = sentMessage(log)
  const equal = siblings.filter(({ data }) => data.toLowerCase() === log.data.toLowerCase())
  const twin = equal.findIndex(({ index }) => index === log.index)
  const place = { number, txHash: log.transactionHash.toLowerCase(), twin, twins: equal.length }
  return { ...place, attestation: new Uint8Array(), bytes }
}

/** Reads a MessageSent log as a transfer: `PlacedLogsOptions.decode` of a source's MessageTransmitter. */
export function createLogDecode(decode: Bridge['decode']): PlacedLogsOptions['decode'] {
  return (...place) => decode(writeCarried(carriedIn(...place)))
}
