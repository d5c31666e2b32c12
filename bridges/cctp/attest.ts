import { decodeBase64, keccak256 } from 'ethers'
import { LRUCache } from 'lru-cache'
import { fingerprint } from '../../chains/crypto/fingerprint.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { groupBy } from '../../domain/group-by.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Attestation } from '../port.ts'
import type { Attested } from './attesters.ts'
import { type CarriedMessage, readCarried, writeCarried } from './carried.ts'
import { type CctpMessage, fast, loggedBytes, readMessage } from './message.ts'
import type { CctpRoute } from './routes.ts'
import { type Refusal, unlessRefused } from '../kit/verdict.ts'
import { keptReads } from '../../runtime/shared-read.ts'
import { createTurns } from '../../runtime/turns.ts'
import { createVerifiedMessages } from '../kit/verified-messages.ts'
import { refusals, type Verify, type VerifySigned } from './verify.ts'

/** `pending`: no API has a usable attestation. `why` names the state of the message at each API. */
export type FoundAttestation<T> = { readonly kind: 'found'; readonly value: T } | { readonly kind: 'pending'; readonly why: string }

/** Circle's APIs, asked in turn until `pick` accepts an answer. Throws IRIS_UNAVAILABLE (with `againInMs`). */
export interface AttestationApis {
  /** `pick` gets the attested messages of the transaction, in the order of their logs. */
  ofTransaction<T>(
    place: { readonly domain: number; readonly txHash: string },
    pick: (messages: readonly Attested[]) => Promise<T | undefined>,
  ): Promise<FoundAttestation<T>>
  /** For v1 messages only. `hash` is the keccak256 of the message. */
  ofHash<T>(hash: string, pick: (attestation: Uint8Array) => Promise<T | undefined>): Promise<FoundAttestation<T>>
  /** Asks Circle to attest a v2 message again, at finality and without an expiration. */
  reattest(nonce: string): Promise<void>
}

interface AttestOptions {
  readonly apis: AttestationApis
  readonly verify: Verify
  readonly verifyEqual: VerifyEqual
  readonly routeOf: (message: CctpMessage) => CctpRoute
  readonly isUsed: (bytes: Uint8Array, route: CctpRoute) => Promise<boolean>
}

/** Number of target blocks for which an attestation must stay valid, so that the delivery can be mined in time. */
const spareBlocks = 50
/** Time between two tries to get an attestation, ms. Attestations at finality take minutes. */
const retryMs = { fast: 5_000, finalized: 15_000 } as const
/** Time after which `reattest` is called again, ms. Circle answers within seconds, so an older request must be lost. */
const askAgainMs = 600_000
const mostRemembered = 4_096

/**
 * The returned function asks Circle for a newer attestation, at most once per `askAgainMs`, and returns why the
 * transfer waits.
 */
function createAskAgain(apis: Pick<AttestationApis, 'reattest'>) {
  const asked = new LRUCache<string, true>({ max: mostRemembered, ttl: askAgainMs })
  return async function askAgain(fault: Refusal, nonce: string): Promise<string> {
    if (!isStale(fault) || asked.has(nonce)) return fault.reason
    try {
      await apis.reattest(nonce)
    } catch (error) {
      // The transfer waits with its own code instead of IRIS_UNAVAILABLE, because Circle may refuse only this message,
      // which a stranger may have made.
      if (!isUnavailable(error)) throw error
      return `${fault.reason} No API attests it again: ${error.about}`
    }
    asked.set(nonce, true)
    return fault.reason
  }
}

/**
 * Finds an attestation for a message that has none, or whose attestation has expired or was made at too low a finality.
 */
export function createAttest({ apis, verify, verifyEqual, routeOf, isUsed }: AttestOptions) {
  const expired = new LRUCache<string, true>({ max: mostRemembered })
  const askAgain = createAskAgain(apis)

  function faultOf(attested: Attested, equal: readonly Attested[] = []): Promise<Refusal | undefined> {
    return refusalOf(async () => {
      await verifyEqual(equal.filter((one) => one !== attested))
      await verify(attested, spareBlocks)
      if (expired.has(fingerprint(attested.bytes))) throw new RelayerError('CCTP_EXPIRED')
    })
  }

  async function find(carried: CarriedMessage, retryInMs: number): Promise<Attestation> {
    const { version, sourceDomain: domain } = readMessage(carried.bytes)
    let stale: { readonly fault: Refusal; readonly nonce: string } | undefined
    const usable = async (attested: Attested | undefined, equal?: readonly Attested[]) => {
      const fault = attested && (await faultOf(attested, equal))
      if (!attested || !fault) return attested
      const message = readMessage(attested.bytes)
      stale = { fault, nonce: message.nonce }
      // If the message has been delivered, it needs no newer attestation.
      return isStale(fault) && (await isUsed(attested.bytes, routeOf(message))) ? attested : undefined
    }
    const answer =
      version === 1
        ? await apis.ofHash(keccak256(carried.bytes), (attestation) => usable({ bytes: carried.bytes, attestation }))
        : await apis.ofTransaction({ domain, txHash: carried.txHash }, (messages) => {
            const equal = equalTo(carried, messages)
            return usable(equal[carried.twin], equal)
          })
    if (answer.kind === 'found') return { kind: 'attested', message: writeCarried({ ...carried, ...answer.value }) }
    if (!stale) return { kind: 'wait', code: 'CCTP_NOT_ATTESTED', reason: answer.why, retryInMs }
    const reason = await askAgain(stale.fault, stale.nonce)
    return { kind: 'wait', code: stale.fault.code, reason, retryInMs }
  }

  return {
    /** Undefined if the message needs no new attestation, or if `validate` refuses it. */
    async attest({ message }: Transfer): Promise<Attestation | undefined> {
      const carried = readCarried(decodeBase64(message))
      const logged = readMessage(carried.bytes)
      if (carried.attestation.length > 0) {
        const fault = await faultOf(carried)
        if (fault?.kind !== 'wait' || (await isUsed(carried.bytes, routeOf(logged)))) return undefined
      } else if (await refusalOf(async () => routeOf(logged))) return undefined
      const retryInMs = retryMs[logged.minFinality <= fast ? 'fast' : 'finalized']
      try {
        return await find(carried, retryInMs)
      } catch (error) {
        if (!isUnavailable(error)) throw error
        const { code, about, title, facts } = error
        return { kind: 'wait', code, reason: about || title, retryInMs: Number(facts['againInMs'] ?? retryInMs) }
      }
    },
    /**
     * Remembers that the target refused the attestation as expired. On Arbitrum, only this refusal shows the
     * expiration.
     */
    hasExpired({ message }: Transfer): void {
      expired.set(fingerprint(readCarried(decodeBase64(message)).bytes), true)
    },
  }
}

/**
 * Maximum number of simultaneous searches for attested messages. Without this limit, an audit would use up the rate
 * limit of the APIs, and new burns would get no attestation.
 */
const formsAtOnce = 8
const turnsOf = new WeakMap<Pick<AttestationApis, 'ofTransaction'>, ReturnType<typeof createTurns>>()

/**
 * Returns a function that finds the attested form of a logged v2 message. Undefined if Circle has no attestation.
 * Throws IRIS_UNAVAILABLE and read errors.
 */
export function createSignedForms({ apis, verifyEqual }: Pick<AttestOptions, 'apis' | 'verifyEqual'>) {
  /** Entries stay valid, because all attestations of a message have the same nonce. */
  const kept = new LRUCache<string, Attested>({ max: mostRemembered })
  const turns = turnsOf.get(apis) ?? createTurns(formsAtOnce)
  turnsOf.set(apis, turns)
  return async function signedForm(carried: CarriedMessage): Promise<Attested | undefined> {
    const key = fingerprint(writeCarried(carried))
    const known = kept.get(key)
    if (known) return known
    const { sourceDomain: domain } = readMessage(carried.bytes)
    const pick = async (messages: readonly Attested[]) => {
      const equal = equalTo(carried, messages)
      return (await refusalOf(() => verifyEqual(equal))) ? undefined : equal[carried.twin]
    }
    const answer = await turns.take(() => apis.ofTransaction({ domain, txHash: carried.txHash }, pick))
    if (answer.kind !== 'found') return undefined
    kept.set(key, answer.value)
    return answer.value
  }
}

type VerifyEqual = (equal: readonly Attested[]) => Promise<void>

export type SignedForm = ReturnType<typeof createSignedForms>

/**
 * Checks signatures, remembers them for a minute, and shares running checks: each burn checks the signatures of all
 * burns that equal it, and there may be many of them.
 */
export function createVerifyEqual(verifySigned: VerifySigned): VerifyEqual {
  const verified = createVerifiedMessages()
  const checks = keptReads((one: Attested) => verified.once(one.bytes, fingerprint(one.attestation), () => verifySigned(one)), {
    fromAnswer: 0,
  })
  return async function verifyEqual(equal) {
    await Promise.all(equal.map((one) => checks.get(one)))
  }
}

function isUnavailable(error: unknown): error is RelayerError {
  return error instanceof RelayerError && error.code === 'IRIS_UNAVAILABLE'
}

/** Whether the attestation has expired or was made at too low a finality. */
function isStale({ code }: Refusal): boolean {
  return code === 'CCTP_EXPIRED' || code === 'CCTP_NOT_ATTESTED'
}

function refusalOf(check: () => Promise<unknown>): Promise<Refusal | undefined> {
  return unlessRefused(
    check().then(() => undefined),
    refusals,
  )
}

/**
 * The attested forms of all equal logs, in the order of their nonces. Empty until all are attested. The caller must
 * check the signatures of all forms before it uses the form at index `twin`, because an API could give two logs the
 * same nonce.
 */
function equalTo({ bytes, twins }: CarriedMessage, messages: readonly Attested[]): readonly Attested[] {
  const equal = formsByLog(messages).get(keccak256(loggedBytes(bytes))) ?? []
  return equal.length === twins ? equal : []
}

const knownForms = new WeakMap<readonly Attested[], ReadonlyMap<string, readonly Attested[]>>()

/**
 * Hash of the logged bytes → their attested forms. Leaves out a log with two forms of the same nonce. The map is made
 * once for all burns that share an answer of the APIs.
 */
function formsByLog(messages: readonly Attested[]): ReadonlyMap<string, readonly Attested[]> {
  const before = knownForms.get(messages)
  if (before) return before
  const forms = new Map<string, readonly Attested[]>()
  for (const [log, equal] of groupBy(messages, ({ bytes }) => logOf(bytes))) {
    if (log === undefined) continue
    const byNonce = new Map(equal.map((message) => [readMessage(message.bytes).nonce, message]))
    const sorted = [...byNonce].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, message]) => message)
    if (sorted.length === equal.length) forms.set(log, sorted)
  }
  knownForms.set(messages, forms)
  return forms
}

/** Returns the hash of the logged bytes. Undefined if `bytes` are not the message of a burn. */
function logOf(bytes: Uint8Array): string | undefined {
  try {
    return keccak256(loggedBytes(bytes))
  } catch (error) {
    if (error instanceof RelayerError) return undefined
    throw error
  }
}
