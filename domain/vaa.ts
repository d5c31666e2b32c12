import { RelayerError } from './catalogue/errors.ts'

export interface GuardianSignature {
  readonly guardianIndex: number
  /** r (32 bytes), s (32 bytes), v (1 byte). In a correct VAA, v is 0 or 1. */
  readonly signature: Uint8Array
}

/** Version 1. Parsing does not check the signatures: that needs a guardian set and a hash function. */
export interface Vaa {
  readonly guardianSetIndex: number
  readonly signatures: readonly GuardianSignature[]
  /** Time of the source block, seconds since the epoch. */
  readonly timestamp: number
  /** A number that the publisher chose. It is not the nonce of an account. */
  readonly vaaNonce: number
  /** Wormhole chain id. */
  readonly emitterChain: number
  /** 64 lower-case hex digits without 0x. */
  readonly emitter: string
  /** u64 as a decimal string. */
  readonly sequence: string
  readonly consistencyLevel: number
  /** Everything after the signatures. The guardians sign these bytes. */
  readonly body: Uint8Array
  readonly payload: Uint8Array
}

/** Version u8, guardian set u32, number of signatures u8. */
const headerBytes = 6
/** Guardian index u8, r, s, v. */
const signatureBytes = 66
/** Timestamp u32, nonce u32, chain u16, emitter (32 bytes), sequence u64, consistency level u8. */
const bodyHeadBytes = 51

/** Parses a VAA (whitepaper 0001) without copying `bytes`. Throws VAA_TRUNCATED, VAA_VERSION, VAA_SIGNATURE_ORDER. */
export function parseVaa(bytes: Uint8Array): Vaa {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const version = bytes[0]
  if (version !== undefined && version !== 1) throw new RelayerError('VAA_VERSION', { facts: { version } })
  demand(bytes, headerBytes)
  const signatureCount = view.getUint8(5)
  const start = headerBytes + signatureCount * signatureBytes
  demand(bytes, start + bodyHeadBytes)
  const body = bytes.subarray(start)
  return {
    guardianSetIndex: view.getUint32(1),
    signatures: readSignatures(bytes, signatureCount),
    timestamp: view.getUint32(start),
    vaaNonce: view.getUint32(start + 4),
    emitterChain: view.getUint16(start + 8),
    emitter: toHex(body.subarray(10, 42)),
    sequence: String(view.getBigUint64(start + 42)),
    consistencyLevel: view.getUint8(start + 50),
    body,
    payload: body.subarray(bodyHeadBytes),
  }
}

/** The smallest number above two thirds of the guardians (`quorum` in Wormhole's Messages.sol). */
export function quorum(guardians: number): number {
  return Math.floor((guardians * 2) / 3) + 1
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function readSignatures(bytes: Uint8Array, count: number): GuardianSignature[] {
  let last = -1
  return Array.from({ length: count }, (_, position) => {
    const at = headerBytes + position * signatureBytes
    const guardianIndex = bytes[at] ?? 0
    if (guardianIndex <= last) throw new RelayerError('VAA_SIGNATURE_ORDER', { facts: { position, guardian: guardianIndex, before: last } })
    last = guardianIndex
    return { guardianIndex, signature: bytes.subarray(at + 1, at + signatureBytes) }
  })
}

function demand(bytes: Uint8Array, needed: number): void {
  if (bytes.length < needed) throw new RelayerError('VAA_TRUNCATED', { facts: { bytes: bytes.length, needed } })
}
