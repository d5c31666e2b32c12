import { getBytes, Interface, keccak256 } from 'ethers'
import { curveOrder, toBigint } from '../../chains/crypto/curve.ts'
import { secp256k1 } from '../../chains/crypto/secp256k1.ts'
import type { At } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { keptReads } from '../../runtime/shared-read.ts'
import { type ContractReader, doubtedEveryMs, read, ttlMs } from '../kit/contract-reader.ts'
import { type CctpMessage, usedNonceKey } from './message.ts'

/** r, s, v. */
export const signatureBytes = 65

/** The two arguments of `receiveMessage`. */
export interface Attested {
  readonly bytes: Uint8Array
  readonly attestation: Uint8Array
}

export interface Attesters {
  readonly threshold: number
  /** Addresses, lower case. */
  readonly enabled: ReadonlySet<string>
}

/** Checks the signatures as Attestable.sol and OpenZeppelin's ECDSA do. Throws CCTP_ATTESTATION. */
export function checkAttestation({ bytes, attestation }: Attested, { threshold, enabled }: Attesters): void {
  if (threshold === 0 || attestation.length !== threshold * signatureBytes)
    throw refused('Its length does not fit the threshold.', { bytes: attestation.length, threshold })
  const digest = getBytes(keccak256(bytes))
  let last = ''
  for (let start = 0; start < attestation.length; start += signatureBytes) {
    const attester = attesterOf(digest, attestation.subarray(start, start + signatureBytes))
    if (attester === undefined) throw refused('A signature is malformed.', { place: start / signatureBytes })
    if (attester <= last) throw refused('The attesters are not in ascending order.', { attester })
    if (!enabled.has(attester)) throw refused('The target contract has not enabled an attester.', { attester })
    last = attester
  }
}

/**
 * Returns the signer's address. Undefined for a signature that the contract refuses, such as one with a high s (EIP-2).
 */
function attesterOf(digest: Uint8Array, signature: Uint8Array): string | undefined {
  const v = signature[64] ?? 0
  if ((v !== 27 && v !== 28) || toBigint(signature.subarray(32, 64)) > curveOrder / 2n) return undefined
  return secp256k1().recover(digest, signature.subarray(0, 64), v - 27)
}

function refused(detail: string, facts: Readonly<Record<string, string | number>>): RelayerError {
  return new RelayerError('CCTP_ATTESTATION', { detail, facts })
}

/** Views of MessageTransmitter and MessageTransmitterV2. */
export const transmitterAbi = new Interface([
  'function signatureThreshold() view returns (uint256)',
  'function getNumEnabledAttesters() view returns (uint256)',
  'function getEnabledAttester(uint256 index) view returns (address)',
  'function isEnabledAttester(address attester) view returns (bool)',
  'function usedNonces(bytes32 key) view returns (uint256)',
])

/** Most nodes must agree, because a single node could invent an attester. */
const at = 'majority-latest'

/** Circle has 2 attesters. A contract with more than 64 is not Circle's. */
const mostAttesters = 64n

export type ReadAttesters = (maxAgeMs?: number) => Promise<Attesters>

/** Returns a function that reads the attesters of a contract, and keeps them for a minute. */
export function createAttesters(chain: ContractReader, transmitter: string, clock?: () => number): ReadAttesters {
  const view = async (method: string, args: readonly unknown[] = []): Promise<unknown> =>
    (await read(chain, { abi: transmitterAbi, to: transmitter, method, args, at }))[0]

  async function readAll(): Promise<Attesters> {
    const [threshold, count] = (await Promise.all([view('signatureThreshold'), view('getNumEnabledAttesters')])) as [bigint, bigint]
    if (count > mostAttesters || threshold > count) {
      const facts = { chain: chain.name, transmitter, threshold: String(threshold), attesters: String(count) }
      throw new RelayerError('NODE_REFUSED', { detail: 'The set of attesters of the contract is inconsistent.', facts })
    }
    const places = Array.from({ length: Number(count) }, (_, index) => index)
    const found = await Promise.all(places.map((place) => view('getEnabledAttester', [place])))
    return { threshold: Number(threshold), enabled: new Set(found.map((address) => String(address).toLowerCase())) }
  }

  const reads = keptReads<'set', Attesters>(readAll, undefined, { orLast: true, clock })
  return (maxAgeMs = ttlMs) => reads.get('set', maxAgeMs)
}

/**
 * Checks the attestation and, if it is refused, checks it again with newly read attesters. Throws CCTP_ATTESTATION and
 * read errors.
 */
export async function verifyAttested(attested: Attested, attesters: ReadAttesters): Promise<void> {
  try {
    checkAttestation(attested, await attesters())
  } catch (error) {
    if (!(error instanceof RelayerError) || error.code !== 'CCTP_ATTESTATION') throw error
    checkAttestation(attested, await attesters(doubtedEveryMs))
  }
}

export async function isUsed(chain: ContractReader, transmitter: string, message: CctpMessage, at: At): Promise<boolean> {
  const [used] = await read(chain, { abi: transmitterAbi, to: transmitter, method: 'usedNonces', args: [usedNonceKey(message)], at })
  return used === 1n
}
