import { hexlify, keccak256, toBeHex } from 'ethers'
import { RelayerError } from '../../domain/catalogue/errors.ts'

export type CctpVersion = 1 | 2

/** A message of MessageTransmitter (Message.sol, MessageV2.sol). Hex is lower case with 0x. */
export interface CctpMessage {
  readonly version: CctpVersion
  readonly sourceDomain: number
  readonly destinationDomain: number
  /** v1: 8 bytes, counted by the source. v2: 32 bytes, chosen by Circle, and zero in the source's log. */
  readonly nonce: string
  /** 32 bytes, like `recipient` and `destinationCaller`. */
  readonly sender: string
  readonly recipient: string
  /** The only account that may deliver. Zero: any account. */
  readonly destinationCaller: string
  /** The finality that the sender asked for. Always 2000 for v1, which Circle attests only at finality. */
  readonly minFinality: number
  /** The finality at which Circle attested. Zero in the source's log of a v2 message. */
  readonly finalityExecuted: number
  readonly body: Uint8Array
}

/** The body of a message of TokenMessenger (BurnMessage.sol, BurnMessageV2.sol). */
export interface Burn {
  readonly token: string
  readonly mintRecipient: string
  readonly amount: bigint
  readonly sender: string
  readonly maxFee: bigint
  /** Zero in the source's log, like `expirationBlock`. */
  readonly feeExecuted: bigint
  /** First target block in which the attestation is refused. 0: the attestation never expires. */
  readonly expirationBlock: bigint
  readonly hookData: Uint8Array
}

/** Finality thresholds of FinalityThresholds.sol. */
export const fast = 1_000
const finalized = 2_000

export const zeroWord = `0x${'0'.repeat(64)}`

/** Lengths and offsets in bytes, by version. The first four bytes of a message are its version: 0 for v1, 1 for v2. */
const layouts = {
  1: { nonceBytes: 8, sender: 20, body: 116 },
  2: { nonceBytes: 32, sender: 44, body: 148 },
} as const

const nonceAt = 12
const finalityAt = { min: 140, executed: 144 } as const
/** Offsets in the body of a v2 burn, bytes. */
const burnAt = { maxFee: 132, feeExecuted: 164, expirationBlock: 196, hookData: 228 } as const
const burnBytes = { 1: 132, 2: burnAt.hookData } as const

/** The result shares memory with `bytes`. Throws CCTP_MESSAGE. */
export function readMessage(bytes: Uint8Array): CctpMessage {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const version = bytes.length < 4 ? undefined : versions.get(view.readUInt32BE(0))
  if (version === undefined) throw malformed('Its version is neither 0 nor 1.')
  const { nonceBytes, sender, body } = layouts[version]
  if (bytes.length < body) throw malformed(`It has ${bytes.length} bytes, and its head alone has ${body}.`)
  return {
    version,
    sourceDomain: view.readUInt32BE(4),
    destinationDomain: view.readUInt32BE(8),
    nonce: hexlify(bytes.subarray(nonceAt, nonceAt + nonceBytes)),
    sender: wordAt(bytes, sender),
    recipient: wordAt(bytes, sender + 32),
    destinationCaller: wordAt(bytes, sender + 64),
    minFinality: version === 1 ? finalized : view.readUInt32BE(finalityAt.min),
    finalityExecuted: version === 1 ? finalized : view.readUInt32BE(finalityAt.executed),
    body: bytes.subarray(body),
  }
}

const versions: ReadonlyMap<number, CctpVersion> = new Map([
  [0, 1],
  [1, 2],
])

/** Throws CCTP_MESSAGE unless the body has 132 bytes (v1) or at least 228 bytes (v2). */
export function readBurn({ version, body }: Pick<CctpMessage, 'version' | 'body'>): Burn {
  const least = burnBytes[version]
  if (body.length < least || (version === 1 && body.length > least))
    throw malformed(`A v${version} burn cannot have a body of ${body.length} bytes.`)
  if (Buffer.from(body.subarray(0, 4)).readUInt32BE(0) !== version - 1)
    throw malformed("The version of its body does not match the message's version.")
  const numberAt = (offset: number) => (version === 1 ? 0n : BigInt(wordAt(body, offset)))
  return {
    token: wordAt(body, 4),
    mintRecipient: wordAt(body, 36),
    amount: BigInt(wordAt(body, 68)),
    sender: wordAt(body, 100),
    maxFee: numberAt(burnAt.maxFee),
    feeExecuted: numberAt(burnAt.feeExecuted),
    expirationBlock: numberAt(burnAt.expirationBlock),
    hookData: body.subarray(least),
  }
}

/** Returns the bytes that the source logged: the fields that Circle sets (v2) are zero. Throws CCTP_MESSAGE. */
export function loggedBytes(bytes: Uint8Array): Uint8Array {
  const message = readMessage(bytes)
  readBurn(message)
  if (message.version === 1) return bytes
  const { body, nonceBytes } = layouts[2]
  return Uint8Array.from(bytes)
    .fill(0, nonceAt, nonceAt + nonceBytes)
    .fill(0, finalityAt.executed, body)
    .fill(0, body + burnAt.feeExecuted, body + burnAt.hookData)
}

/** Key in the contract's map `usedNonces`. Wrong for a v2 message until Circle has chosen its nonce. */
export function usedNonceKey({ version, sourceDomain, nonce }: Pick<CctpMessage, 'version' | 'sourceDomain' | 'nonce'>): string {
  return version === 2 ? nonce : keccak256(`${toBeHex(sourceDomain, 4)}${nonce.slice(2)}`)
}

/** `finalized` accepts only attestations at finality, even if the sender asked for a fast one. */
export type CctpFinality = 'fast' | 'finalized'

export function isFinalEnough({ minFinality, finalityExecuted }: CctpMessage, policy: CctpFinality): boolean {
  return finalityExecuted >= (policy === 'fast' && minFinality <= fast ? fast : finalized)
}

export function addressOf(word: string): string {
  return `0x${word.slice(26)}`
}

function wordAt(bytes: Uint8Array, offset: number): string {
  return hexlify(bytes.subarray(offset, offset + 32))
}

export function malformed(detail: string): RelayerError {
  return new RelayerError('CCTP_MESSAGE', { detail })
}
