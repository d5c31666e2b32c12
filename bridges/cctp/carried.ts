import { concat, getBytes, hexlify, toBeHex } from 'ethers'
import { signatureBytes } from './attesters.ts'
import { loggedBytes, malformed, readMessage, zeroWord } from './message.ts'

/** A message and the place of its log. Only v2 messages change when they are attested. */
export interface CarriedMessage {
  /** Number of the log in its stream, u64, decimal. */
  readonly number: string
  /** 32 bytes, lower case. */
  readonly txHash: string
  /** Position among the `twins` equal logs of the transaction, from 0. Only logs of v2 can be equal. */
  readonly twin: number
  readonly twins: number
  readonly attestation: Uint8Array
  readonly bytes: Uint8Array
}

/** Layout: number u64, txHash, twin u16, twins u16, number of signatures u8, the signatures, the message. */
const headBytes = 45

/** The result shares memory with `carried`. Throws CCTP_MESSAGE. */
export function readCarried(carried: Uint8Array): CarriedMessage {
  const view = Buffer.from(carried.buffer, carried.byteOffset, carried.length)
  if (carried.length < headBytes) throw malformed(`It has ${carried.length} bytes, and its head alone has ${headBytes}.`)
  const end = headBytes + view.readUInt8(44) * signatureBytes
  const [twin, twins] = [view.readUInt16BE(40), view.readUInt16BE(42)]
  const [attestation, bytes] = [carried.subarray(headBytes, end), carried.subarray(end)]
  if (twin >= twins) throw malformed(`Its log is number ${twin} of ${twins} equal logs.`)
  const { version, nonce } = readMessage(bytes)
  if (version === 2 && attestation.length > 0 && nonce === zeroWord) throw malformed('It is attested but has no nonce.')
  if (attestation.length === 0 && !Buffer.from(loggedBytes(bytes)).equals(bytes)) throw malformed('No source logs these bytes.')
  return { number: String(view.readBigUInt64BE(0)), txHash: hexlify(carried.subarray(8, 40)), twin, twins, attestation, bytes }
}

export function writeCarried({ number, txHash, twin, twins, attestation, bytes }: CarriedMessage): Uint8Array {
  const signatures = toBeHex(attestation.length / signatureBytes, 1)
  return getBytes(concat([toBeHex(BigInt(number), 8), txHash, toBeHex(twin, 2), toBeHex(twins, 2), signatures, attestation, bytes]))
}

export function loggedForm(carried: CarriedMessage): CarriedMessage {
  return { ...carried, attestation: new Uint8Array(), bytes: loggedBytes(carried.bytes) }
}
