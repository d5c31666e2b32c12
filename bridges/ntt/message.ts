import { concat, keccak256, toBeHex } from 'ethers'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { toHex } from '../../domain/vaa.ts'

/** Values of 32 bytes are 64 lower-case hex digits. */
export interface NttMessage {
  readonly sourceManager: string
  /** The id at the source's manager. */
  readonly messageId: string
  /** The id at the target's manager: keccak256(source chain, manager message), 0x, lower case. */
  readonly id: string
  /** Decimal, in a unit of 10^-`decimals` tokens. `decimals` is at most 8. */
  readonly amount: string
  readonly decimals: number
  /** 0x and 40 hex digits if the first 12 bytes are zero. Otherwise 0x and 64 digits. */
  readonly recipient: string
}

/**
 * Offsets (TransceiverStructs.sol in wormhole-foundation/native-token-transfers). Payload: prefix 0, source manager 4,
 * recipient manager 36, length of the manager message 68, manager message 70. Manager message: id 0, sender 32, length
 * of the inner payload 64, inner payload 66. Inner payload: prefix 0, decimals 4, amount 5, source token 13, recipient
 * 45, target chain 77.
 */
const messageAt = 70
const transferAt = messageAt + 66
const transferBytes = 79
export const recipientManagerAt = 36
export const targetChainAt = transferAt + 77

const transceiverPrefix = '9945ff10'
const transferPrefix = '994e5454'

/** Undefined for a payload of another kind. Throws PAYLOAD_LENGTH if its lengths do not fit. */
export function readNttMessage(payload: Uint8Array, emitterChain: number): NttMessage | undefined {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length)
  const hex = (from: number, to: number) => toHex(bytes.subarray(from, to))
  if (hex(0, 4) !== transceiverPrefix || bytes.length < transferAt + 4 || hex(transferAt, transferAt + 4) !== transferPrefix)
    return undefined
  const messageEnd = messageAt + bytes.readUInt16BE(messageAt - 2)
  const transferEnd = transferAt + bytes.readUInt16BE(transferAt - 2)
  // The additional payload and the transceiver's payload follow, each after its length. The additional payload may be
  // missing together with its length.
  const additionalAt = transferAt + transferBytes
  const endOf = (at: number) => (at + 2 <= bytes.length ? at + 2 + bytes.readUInt16BE(at) : Number.NaN)
  const isTransfer = transferEnd === additionalAt || transferEnd === endOf(additionalAt)
  if (!isTransfer || transferEnd !== messageEnd || bytes.length !== endOf(messageEnd))
    throw new RelayerError('PAYLOAD_LENGTH', { facts: { bytes: bytes.length } })
  const recipient = hex(transferAt + 45, transferAt + 77)
  return {
    sourceManager: hex(4, 36),
    messageId: hex(messageAt, messageAt + 32),
    id: keccak256(concat([toBeHex(emitterChain, 2), bytes.subarray(messageAt, messageEnd)])),
    amount: String(bytes.readBigUInt64BE(transferAt + 5)),
    decimals: bytes.readUInt8(transferAt + 4),
    recipient: recipient.startsWith('0'.repeat(24)) ? `0x${recipient.slice(24)}` : `0x${recipient}`,
  }
}
