import { AbiCoder, hexlify, keccak256 } from 'ethers'
import { LRUCache } from 'lru-cache'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { mostMessageBytes } from '../../domain/transfer/transfer.ts'
import type { RequestForExecution } from './event.ts'

/** A request and its place. A request has no signatures, because the logs of the source chain prove it. */
export interface ExecutorMessage {
  /** Wormhole chain id of the source. */
  readonly sourceChain: number
  readonly height: number
  readonly logIndex: number
  readonly txHash: string
  readonly request: RequestForExecution
  /**
   * The signed messages that the request asks for: a VAA, for NTT one VAA of each transceiver, or an attested message
   * of CCTP. Empty until they are signed.
   */
  readonly attested: readonly Uint8Array[]
}

const types = [
  ...['uint16', 'uint64', 'uint32', 'bytes32'],
  ...['address', 'uint256', 'uint16', 'bytes32', 'address', 'bytes', 'bytes', 'bytes', 'bytes[]'],
]
const coder = AbiCoder.defaultAbiCoder()

export function writeMessage({ request, attested, ...place }: ExecutorMessage): Uint8Array {
  const { quoter, amountPaid, targetChain, targetAddress, refundAddress, signedQuote, instructions } = request
  const placed = [place.sourceChain, place.height, place.logIndex, place.txHash]
  const asked = [quoter, amountPaid, targetChain, `0x${targetAddress}`, refundAddress, signedQuote, request.request, instructions, attested]
  return Buffer.from(coder.encode(types, [...placed, ...asked]).slice(2), 'hex')
}

/** Throws EXECUTOR_MESSAGE for bytes that `writeMessage` does not make, MESSAGE_TOO_LARGE for long bytes. */
export function readMessage(bytes: Uint8Array): ExecutorMessage {
  if (bytes.length > mostMessageBytes)
    throw new RelayerError('MESSAGE_TOO_LARGE', { facts: { bytes: bytes.length, most: mostMessageBytes } })
  return kept.memo(Buffer.from(bytes).toString('base64'))
}

const kept = new LRUCache<string, ExecutorMessage>({
  // The cache is limited in characters, because attested messages may be long.
  maxSize: 16_000_000,
  sizeCalculation: (_, text) => text.length,
  memoMethod: (text) => decodeMessage(Buffer.from(text, 'base64')),
})

function decodeMessage(bytes: Uint8Array): ExecutorMessage {
  try {
    const [sourceChain, height, logIndex, txHash, ...asked] = coder.decode(types, bytes).toArray()
    const [quoter, amountPaid, targetChain, targetAddress, refundAddress, ...parts] = asked
    const attested: readonly string[] = parts.pop().toArray()
    const [signedQuote, request, instructions] = parts.map(bytesOf)
    const message: ExecutorMessage = {
      ...{ sourceChain: Number(sourceChain), height: Number(height), logIndex: Number(logIndex) },
      txHash: String(txHash),
      request: {
        ...{ quoter: String(quoter).toLowerCase(), amountPaid: BigInt(amountPaid), targetChain: Number(targetChain) },
        ...{ targetAddress: String(targetAddress).slice(2), refundAddress: String(refundAddress).toLowerCase() },
        ...{ signedQuote: signedQuote ?? bytes, request: request ?? bytes, instructions: instructions ?? bytes },
      },
      attested: attested.map(bytesOf),
    }
    if (Buffer.compare(writeMessage(message), bytes) === 0) return message
  } catch {
    // Refused below.
  }
  throw new RelayerError('EXECUTOR_MESSAGE', { facts: { bytes: bytes.length } })
}

function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex')
}

export function loggedForm(message: ExecutorMessage): ExecutorMessage {
  return { ...message, attested: [] }
}

/** Digest of the request, 0x, lower case. It is the same before and after the message is attested. */
export function digestOf(message: ExecutorMessage): string {
  return keccak256(hexlify(writeMessage(loggedForm(message))))
}
