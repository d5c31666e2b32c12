import { concat, getBytes, keccak256, SigningKey, toBeHex, zeroPadValue } from 'ethers'
import type { DevnetAccount } from '../chain/accounts.ts'

/** A message before the signature. This file shares no code with the relayer, so that the two check each other. */
export interface Message {
  /** Time of the message's block, seconds. */
  readonly timestamp: number
  /** A number that the publisher chooses. Unrelated to an account's nonce. */
  readonly vaaNonce: number
  readonly emitterChain: number
  /** 64 lower-case hex digits without 0x. */
  readonly emitter: string
  readonly sequence: bigint
  readonly consistencyLevel: number
  /** 0x hex. */
  readonly payload: string
}

export interface SignedVaa {
  readonly bytes: Uint8Array
  /** keccak256(keccak256(body)), 0x hex. */
  readonly digest: string
}

/** Number of signatures of a quorum: floor(2n/3)+1 (Messages.sol, quorum). */
export function quorumOf(guardians: number): number {
  return Math.floor((guardians * 2) / 3) + 1
}

/** The signed part of a VAA, big-endian. */
export function encodeBody(message: Message): string {
  return concat([
    uint(message.timestamp, 4),
    uint(message.vaaNonce, 4),
    uint(message.emitterChain, 2),
    `0x${message.emitter}`,
    uint(message.sequence, 8),
    uint(message.consistencyLevel, 1),
    message.payload,
  ])
}

export function digestOf(message: Message): string {
  return keccak256(keccak256(encodeBody(message)))
}

/**
 * Signs a message. `guardians`: the whole set. `signers`: ascending indexes of the guardians that sign. Default: the
 * first guardians, as many as a quorum needs.
 */
export function signVaa(message: Message, guardians: readonly DevnetAccount[], signers?: readonly number[], setIndex = 0): SignedVaa {
  const indices = signers ?? Array.from({ length: quorumOf(guardians.length) }, (_, index) => index)
  const digest = digestOf(message)
  const signatures = indices.map((index) => {
    const guardian = guardians[index]
    if (!guardian) throw new Error(`There is no guardian ${index} in a set of ${guardians.length}`)
    const { r, s, yParity } = new SigningKey(guardian.privateKey).sign(digest)
    return concat([uint(index, 1), r, s, uint(yParity, 1)])
  })
  const header = concat([uint(1, 1), uint(setIndex, 4), uint(indices.length, 1), ...signatures])
  return { bytes: getBytes(concat([header, encodeBody(message)])), digest }
}

/** An EVM address in Wormhole's form: 64 hex digits without 0x. */
export function toUniversal(address: string): string {
  return zeroPadValue(address.toLowerCase(), 32).slice(2)
}

export const governance = { chain: 1, emitter: '4'.padStart(64, '0') } as const

/** Governance payload that registers another chain's token bridge (BridgeGovernance.sol, registerChain). */
export function registerChainPayload(foreignChain: number, foreignBridge: string): string {
  const tokenBridgeModule = zeroPadValue(toBeHex(BigInt('0x546f6b656e427269646765')), 32) // "TokenBridge"
  return concat([tokenBridgeModule, uint(1, 1), uint(0, 2), uint(foreignChain, 2), `0x${toUniversal(foreignBridge)}`])
}

function uint(value: number | bigint, bytes: number): string {
  return toBeHex(value, bytes)
}
