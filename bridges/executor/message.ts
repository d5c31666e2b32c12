import { AbiCoder, decodeBase64, hexlify, keccak256 } from 'ethers'
import { LRUCache } from 'lru-cache'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { placeOf } from '../../domain/stream/places.ts'
import { leastGasLimit } from '../../domain/transfer/content.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import { demandSize } from '../kit/demands.ts'
import { emitterOf, type PlacedLogsOptions } from '../kit/placed-logs.ts'
import type { Decode } from '../kit/published.ts'
import { bytesOf, readRequest, type RequestForExecution, requestOf } from './event.ts'
import { type ExecutorTerms, judge } from './judge.ts'
import { decodeInstructions, executor } from './requests.ts'

/** A request and the place of its log. The logs of the source chain prove the request: it has no signatures. */
export interface ExecutorMessage {
  /** Wormhole chain id. */
  readonly sourceChain: number
  readonly height: number
  readonly logIndex: number
  readonly txHash: string
  readonly request: RequestForExecution
  /** A VAA, the VAA of each NTT transceiver, or an attested message of CCTP. Empty until these messages are signed. */
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

/** Throws EXECUTOR_MESSAGE for bytes that `writeMessage` does not make, and MESSAGE_TOO_LARGE. */
export function readMessage(bytes: Uint8Array): ExecutorMessage {
  demandSize(bytes)
  return kept.memo(Buffer.from(bytes).toString('base64'))
}

const kept = new LRUCache<string, ExecutorMessage>({
  // The cache is limited in characters, because attested messages may be long.
  maxSize: 16_000_000,
  sizeCalculation: (_, text) => text.length,
  memoMethod: (text) => decodeMessage(Buffer.from(text, 'base64')),
})

/**
 * Throws an Error if the texts of the message overlap. Otherwise, 100 KB with many offsets to one text would decode to
 * gigabytes.
 */
function demandDistinct(bytes: Buffer): void {
  // The low 48 bits of a word. The decoder refuses words above them.
  const wordAt = (at: number) => bytes.readUIntBE(at + 26, 6)
  const list = wordAt(32 * types.indexOf('bytes[]'))
  // `Array.from` takes the memory of the whole list at once.
  if (wordAt(list) > bytes.length / 32) throw new Error('the list is too long')
  const attested = Array.from({ length: wordAt(list) }, (_, index) => list + 32 + wordAt(list + 32 + 32 * index))
  const texts = [...types.flatMap((type, field) => (type === 'bytes' ? [wordAt(32 * field)] : [])), ...attested]
  if (texts.reduce((sum, at) => sum + 32 + wordAt(at), 0) > bytes.length) throw new Error('the texts overlap')
}

function decodeMessage(bytes: Buffer): ExecutorMessage {
  try {
    demandDistinct(bytes)
    const [sourceChain, height, logIndex, txHash, ...asked] = coder.decode(types, bytes).toArray()
    const attested: readonly string[] = asked.pop().toArray()
    const message: ExecutorMessage = {
      ...{ sourceChain: Number(sourceChain), height: Number(height), logIndex: Number(logIndex) },
      txHash: String(txHash),
      request: requestOf(asked),
      attested: attested.map(bytesOf),
    }
    if (Buffer.compare(writeMessage(message), bytes) === 0) return message
  } catch {
    // Refused below.
  }
  throw new RelayerError('EXECUTOR_MESSAGE', { facts: { bytes: bytes.length } })
}

/**
 * Whether a transfer may start for the request. False if its gas limit is below the minimum. Its transfer may have
 * started nevertheless, under an earlier version of Portage.
 */
export function mayStart({ message }: Pick<Transfer, 'message'>): boolean {
  const wanted = decodeInstructions(readMessage(decodeBase64(message)).request.instructions)
  return wanted === undefined || wanted.gasLimit >= leastGasLimit
}

export function loggedForm(message: ExecutorMessage): ExecutorMessage {
  return { ...message, attested: [] }
}

/** Returns the digest of the request (0x, lower case). Attested messages do not change the digest. */
export function digestOf(message: ExecutorMessage): string {
  return keccak256(hexlify(writeMessage(loggedForm(message))))
}

interface ExecutorSource {
  readonly name: ChainName
  /** 0x, lower case. */
  readonly contract: string
}

/** Makes `Bridge.decode`. Throws EXECUTOR_MESSAGE, MESSAGE_TOO_LARGE, TARGET_CHAIN_UNSUPPORTED. */
export function createDecode(sources: ReadonlyMap<number, ExecutorSource>, chainNames: ReadonlyMap<number, ChainName>): Decode {
  return (bytes) => {
    const message = readMessage(bytes)
    const { sourceChain, height, logIndex, request } = message
    const source = sources.get(sourceChain)
    const targetChain = chainNames.get(request.targetChain)
    if (!source || targetChain === undefined)
      throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { facts: { wormholeChainId: source ? request.targetChain : sourceChain } })
    return {
      ...{ bridge: executor, sourceChain: source.name, sourceId: String(sourceChain), targetChain },
      ...{ emitter: emitterOf(source.contract), sequence: placeOf(height, logIndex) },
      ...{ digest: digestOf(message), message: Buffer.from(bytes).toString('base64') },
    }
  }
}

/**
 * The returned function decodes the log of a request. It returns undefined for a request that the quoter cannot have
 * sold. A sold request that the present terms refuse starts a transfer, which is declined, so that it is shown and
 * counted. The stream must also leave out requests for which `mayStart` is false.
 */
export function createLogDecode(name: ChainName, sourceChain: number, terms: ExecutorTerms, decode: Decode): PlacedLogsOptions['decode'] {
  return (log) => {
    const { block, index: logIndex, transactionHash: txHash } = log
    const request = readRequest({ name }, log)
    if (judge(request, sourceChain, { requestedAt: 0, now: 0, hasStarted: true, isUnderAnyConfig: true }, terms).kind === 'refused')
      return undefined
    return decode(writeMessage({ sourceChain, height: block.height, logIndex, txHash, request, attested: [] }))
  }
}
