import { concat, getBytes, hexlify, keccak256, SigningKey, solidityPackedKeccak256, toBeHex } from 'ethers'
import type { DevnetAccount } from '../chain/accounts.ts'
import type { Level, WatchedLog } from '../chain/watch-logs.ts'

/**
 * attest: at the finality that the sender asks for, or once final if the fee of a fast attestation exceeds the sender's
 * limit. finalize: only once final. hold: pending until the treatment changes. miss: the attesters do not see the
 * message.
 */
export type IrisTreatment = 'attest' | 'finalize' | 'hold' | 'miss'

export interface FastTerms {
  /** Fee of a fast message, in hundredths of a percent of the amount. Default 1. */
  readonly fastFee?: bigint
  /** Number of the target's blocks for which a fast attestation is valid. Default 7,200. */
  readonly fastBlocks?: number
}

export interface SeenMessage {
  readonly version: 1 | 2
  readonly domain: number
  readonly txHash: string
  readonly logIndex: number
  readonly logged: Uint8Array
  readonly nonce: string
  level: Level
  attested?: { readonly message: Uint8Array; readonly attestation: string }
  reattest?: true
}

const at = { target: 8, nonce: 12, minFinality: 140, executed: 144, amount: 216, maxFee: 280, fee: 312, expiration: 344 } as const

/** Keeps the messages that the attesters have seen, and attests them. `heightOf`: height of a domain's newest block. */
export function createAttestations(first: readonly DevnetAccount[], terms: FastTerms, heightOf: (domain: number) => number) {
  const { fastFee = 1n, fastBlocks = 7_200 } = terms
  const seen = new Map<string, SeenMessage>()
  let attesters = first
  let treatment: (message: Uint8Array) => IrisTreatment = () => 'attest'

  const feeOf = ({ logged }: SeenMessage) => (numberAt(logged, at.amount, 32) * fastFee) / 10_000n
  const isFast = (one: SeenMessage) =>
    asksForFast(one) && treatment(one.logged) === 'attest' && feeOf(one) <= numberAt(one.logged, at.maxFee, 32)

  function chosen({ logged, nonce, attested }: SeenMessage, fee: bigint, fast: boolean): Uint8Array {
    const expiration = fast ? heightOf(Number(numberAt(logged, at.target, 4))) + fastBlocks : 0
    const message = Uint8Array.from(logged)
    message.set(getBytes(nonce), at.nonce)
    message.set(getBytes(toBeHex(fast ? 1_000 : 2_000, 4)), at.executed)
    // A fee that has already been charged does not change.
    message.set(getBytes(toBeHex(attested ? numberAt(attested.message, at.fee, 32) : fee, 32)), at.fee)
    message.set(getBytes(toBeHex(expiration, 32)), at.expiration)
    return message
  }

  /**
   * Attests the message if its treatment and its finality allow this. Runs at each request to the API, so that a new
   * treatment also applies to pending messages.
   */
  function decide(one: SeenMessage): void {
    const how = treatment(one.logged)
    const isFinal = one.level === 'finalized'
    if (how === 'hold' || how === 'miss' || (one.attested && !(one.reattest && isFinal))) return
    const fast = !one.attested && isFast(one)
    if (!fast && !isFinal) return
    const message = one.version === 1 ? one.logged : chosen(one, fast ? feeOf(one) : 0n, fast)
    one.attested = { message, attestation: signMessage(message, attesters) }
    delete one.reattest
  }

  return {
    see(place: Pick<SeenMessage, 'version' | 'domain' | 'logged'>, level: Level, { transactionHash, logIndex }: WatchedLog): void {
      const key = `${place.domain} ${transactionHash} ${Number(logIndex)}`
      const nonce = place.version === 1 ? hexlify(place.logged.subarray(12, 20)) : solidityPackedKeccak256(['string'], [key])
      const known = seen.get(key) ?? { ...place, txHash: transactionHash.toLowerCase(), logIndex: Number(logIndex), nonce, level }
      if (known.level !== 'finalized') known.level = level
      seen.set(key, known)
    },
    find(isWanted: (one: SeenMessage) => boolean): readonly SeenMessage[] {
      const found = [...seen.values()].filter((one) => isWanted(one) && treatment(one.logged) !== 'miss')
      for (const one of found) decide(one)
      return found.sort((one, other) => one.logIndex - other.logIndex)
    },
    /** Orders a new attestation once the message is final. Returns false if the message has no fast attestation. */
    reattest(one: SeenMessage): boolean {
      if (!one.attested || numberAt(one.attested.message, at.executed, 4) >= 2_000n) return false
      one.reattest = true
      return true
    },
    treat: (how: typeof treatment) => void (treatment = how),
    signWith: (others: readonly DevnetAccount[]) => void (attesters = others),
  }
}

export type Attestations = ReturnType<typeof createAttestations>

export function asksForFast({ version, logged }: Pick<SeenMessage, 'version' | 'logged'>): boolean {
  return version === 2 && numberAt(logged, at.minFinality, 4) <= 1_000n
}

export function signMessage(message: Uint8Array, attesters: readonly DevnetAccount[]): string {
  return concat(attesters.map(({ privateKey }) => new SigningKey(privateKey).sign(keccak256(message)).serialized))
}

function numberAt(bytes: Uint8Array, offset: number, length: number): bigint {
  return bytes.length < offset + length ? 0n : BigInt(hexlify(bytes.subarray(offset, offset + length)))
}
