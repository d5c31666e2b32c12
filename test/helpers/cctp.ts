import { concat, getBytes, keccak256, SigningKey, toBeHex, zeroPadValue } from 'ethers'
import { type DevnetAccount, devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { type CctpMessage, type CctpVersion, zeroWord } from '../../bridges/cctp/message.ts'
import { createAttestations } from '../../lab/devnet/cctp/attestations.ts'
import { irisAnswer } from '../../lab/devnet/cctp/iris.ts'
import { writeMessage } from '../../lab/devnet/cctp/write-message.ts'
import { startVaaServer } from '../../lab/devnet/wormhole/vaa-server.ts'
import { cleanUp } from './clean-up.ts'
import { transmitterAbi } from '../../bridges/cctp/attesters.ts'
import type { CarriedMessage } from '../../bridges/cctp/carried.ts'
import type { At } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type CctpChain, createRoutes } from '../../bridges/cctp/routes.ts'

const address = (digits: string) => `0x${digits.repeat(20)}`
export const word = (of: string) => zeroPadValue(of, 32).toLowerCase()

/** Chains with Circle's domains 0 and 6. As on Circle's networks, the v2 contracts have the same addresses on both. */
export const cctpChains = (['ethereum', 'base'] as const).map((chain, index): CctpChain => {
  const contracts = (digits: string, own: number) => ({
    transmitter: address(`${digits}${own}`),
    tokenMessenger: word(address(`${digits}${own + 2}`)),
  })
  return { chain, networkId: String(1337 + index), domain: index * 6, contracts: { 1: contracts('a', index), 2: contracts('b', 0) } }
})
export const cctpRoutes = createRoutes(cctpChains)
export const baseTransmitters = Object.values(cctpChains[1]!.contracts).map(({ transmitter }) => transmitter)

/** The attesters, sorted by address, because attestations need ascending signers. */
export const attesters: readonly DevnetAccount[] = [20, 21, 22].map(devnetAccount).toSorted((a, b) => (a.address < b.address ? -1 : 1))

export interface BurnFields {
  readonly bodyVersion: number
  readonly amount: bigint
  readonly maxFee: bigint
  readonly feeExecuted: bigint
  readonly expirationBlock: bigint
  readonly hookData: string
}

export function burnBody(version: CctpVersion, fields: Partial<BurnFields> = {}): Uint8Array {
  const { bodyVersion = version - 1, amount = 1_000_000n, maxFee = 500n, feeExecuted = 0n, expirationBlock = 0n, hookData = '0x' } = fields
  const common = [toBeHex(bodyVersion, 4), word(address('c1')), word(address('c2')), toBeHex(amount, 32), word(address('c3'))]
  const own = version === 1 ? [] : [...[maxFee, feeExecuted, expirationBlock].map((value) => toBeHex(value, 32)), hookData]
  return getBytes(concat([...common, ...own]))
}

/**
 * A burn from domain 0 to domain 6. A v2 burn is attested by default; `nonce` and `finalityExecuted` can change this.
 */
export function burnMessage(version: CctpVersion, fields: Partial<CctpMessage> = {}, burn: Partial<BurnFields> = {}): CctpMessage {
  return {
    version,
    sourceDomain: 0,
    destinationDomain: 6,
    nonce: version === 1 ? toBeHex(7n, 8) : `0x${'5e'.repeat(32)}`,
    sender: cctpChains[0]!.contracts[version]!.tokenMessenger,
    recipient: cctpChains[1]!.contracts[version]!.tokenMessenger,
    destinationCaller: zeroWord,
    minFinality: 2_000,
    finalityExecuted: 2_000,
    body: burnBody(version, burn),
    ...fields,
  }
}

export const burnBytes = (...args: Parameters<typeof burnMessage>) => writeMessage(burnMessage(...args))

export function attest(bytes: Uint8Array, by: readonly DevnetAccount[] = attesters.slice(0, 2)): Uint8Array {
  const signatures = by.map(({ privateKey }) => new SigningKey(privateKey).sign(keccak256(bytes)).serialized)
  return getBytes(concat(signatures))
}

export function carriedOf(bytes: Uint8Array, fields: Partial<CarriedMessage> = {}): CarriedMessage {
  return { number: '12000003', txHash: `0x${'7a'.repeat(32)}`, twin: 0, twins: 1, attestation: new Uint8Array(), bytes, ...fields }
}

export interface TransmitterState {
  /** The node that is asked first calls every nonce used. */
  lie?: boolean
  threshold: number
  enabled: string[]
  readonly used: Set<string>
  up: boolean
  readonly at: Set<string>
  calls: number
}

export function transmitterReader(name = 'base') {
  const enabled = attesters.slice(0, 2).map(({ address }) => address)
  const state: TransmitterState = { threshold: 2, enabled, used: new Set(), up: true, at: new Set(), calls: 0 }
  const answers: Readonly<Record<string, (args: readonly unknown[]) => unknown>> = {
    signatureThreshold: () => state.threshold,
    getNumEnabledAttesters: () => state.enabled.length,
    getEnabledAttester: ([index]) => state.enabled[Number(index)],
    // The v2 contract marks the nonce zero as used.
    usedNonces: ([key]) => (key === zeroWord || state.used.has(String(key)) ? 1 : 0),
  }
  const chain = {
    name,
    async call(_: string, data: string, at: At) {
      state.calls++
      if (!state.up) throw new RelayerError('NODE_UNAVAILABLE')
      const { name: method, args } = transmitterAbi.parseTransaction({ data })!
      if (method !== 'usedNonces') state.at.add(at)
      else if (state.lie && at === 'latest') return transmitterAbi.encodeFunctionResult(method, [1])
      return transmitterAbi.encodeFunctionResult(method, [answers[method]?.(args.toArray())])
    },
  }
  return { state, chain }
}

export function headsAt(height: number) {
  const latest = { height, hash: '0x', parentHash: '0x', timestamp: 0, transactions: [] }
  return { current: { applied: [], rolledBack: [], latest, finalized: height } }
}

export interface SeenLog {
  readonly bytes: Uint8Array
  readonly level?: 'latest' | 'finalized'
  readonly txHash?: string
  readonly logIndex?: number
}

/** Starts the devnet's Iris over HTTP, without chains. A test gives it messages through `see`. */
export async function irisWithoutChains({ height = 100, ...terms }: { height?: number; fastFee?: bigint; fastBlocks?: number } = {}) {
  const attestations = createAttestations(attesters.slice(0, 2), terms, () => height)
  const api = await startVaaServer((method, path, query) => irisAnswer(attestations, { method, path, query }))
  cleanUp(api.stop)
  return {
    api,
    attestations,
    see({ bytes, level = 'finalized', txHash = txOf(bytes), logIndex = 0 }: SeenLog): void {
      const log = { address: '', topics: [], data: '', blockHash: '', blockNumber: '0x1', timestamp: 0 }
      const version = bytes[3] === 0 ? 1 : 2
      attestations.see({ version, domain: 0, logged: bytes }, level, { ...log, transactionHash: txHash, logIndex: toBeHex(logIndex) })
    },
  }
}

export const txOf = (bytes: Uint8Array) => keccak256(concat(['0x7a', bytes]))
