import type { PlacedLogsOptions } from '../kit/placed-logs.ts'
import type { Bridge } from '../port.ts'
import { sentMessage } from './calls.ts'
import { writeCarried } from './carried.ts'

/** Reads a MessageSent log as a transfer: `PlacedLogsOptions.decode` of a source's MessageTransmitter. */
export function createLogDecode(decode: Bridge['decode']): PlacedLogsOptions['decode'] {
  return (log, number, siblings) => {
    const bytes = sentMessage(log)
    const equal = siblings.filter(({ data }) => data.toLowerCase() === log.data.toLowerCase())
    const twin = equal.findIndex(({ index }) => index === log.index)
    const place = { number, txHash: log.transactionHash.toLowerCase(), twin, twins: equal.length }
    return decode(writeCarried({ ...place, attestation: new Uint8Array(), bytes }))
  }
}
