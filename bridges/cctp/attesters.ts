import { Interface } from 'ethers'
import type { At } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { keptReads } from '../../runtime/shared-read.ts'
import { type ContractReader, doubtedEveryMs, read, ttlMs } from '../kit/contract-reader.ts'
import { type Attested, type Attesters, checkAttestation } from './attestation.ts'
import { type CctpMessage, usedNonceKey } from './message.ts'

/** Views that MessageTransmitter and MessageTransmitterV2 have in common. */
export const transmitterAbi = new Interface([
  'function signatureThreshold() view returns (uint256)',
  'function getNumEnabledAttesters() view returns (uint256)',
  'function getEnabledAttester(uint256 index) view returns (address)',
  'function isEnabledAttester(address attester) view returns (bool)',
  'function usedNonces(bytes32 key) view returns (uint256)',
])

/** Most nodes are read, because a single node could invent an attester. */
const at = 'majority-latest'

/** Circle has 2 attesters. A contract with more than this number is not Circle's. */
const mostAttesters = 64n

export type ReadAttesters = (maxAgeMs?: number) => Promise<Attesters>

/** Reads the attesters that one MessageTransmitter accepts, and keeps them for a minute. */
export function createAttesters(chain: ContractReader, transmitter: string, clock?: () => number): ReadAttesters {
  const view = async (method: string, args: readonly unknown[] = []): Promise<unknown> =>
    (await read(chain, { abi: transmitterAbi, to: transmitter, method, args, at }))[0]

  async function readAll(): Promise<Attesters> {
    const [threshold, count] = (await Promise.all([view('signatureThreshold'), view('getNumEnabledAttesters')])) as [bigint, bigint]
    if (count > mostAttesters || threshold > count) {
      const facts = { chain: chain.name, transmitter, threshold: String(threshold), attesters: String(count) }
      throw new RelayerError('NODE_REFUSED', { detail: 'The contract has no sound set of attesters.', facts })
    }
    const places = Array.from({ length: Number(count) }, (_, index) => index)
    const found = await Promise.all(places.map((place) => view('getEnabledAttester', [place])))
    return { threshold: Number(threshold), enabled: new Set(found.map((address) => String(address).toLowerCase())) }
  }

  const reads = keptReads<'set', Attesters>(readAll, undefined, { orLast: true, clock })
  return (maxAgeMs = ttlMs) => reads.get('set', maxAgeMs)
}

/** Checks an attestation. If refused, checks it with newly read attesters. Throws CCTP_ATTESTATION and read errors. */
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
