import type { HeadSource } from '../../chains/heads.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ContractReader } from '../kit/contract-reader.ts'
import { placedRefusals } from '../kit/placed-logs.ts'
import type { Refusals } from '../kit/verdict.ts'
import { type Attested, createAttesters, type ReadAttesters, verifyAttested } from './attesters.ts'
import { addressOf, type CctpFinality, type CctpMessage, isFinalEnough, readBurn, readMessage, zeroWord } from './message.ts'
import type { CctpRoute, CctpRoutes } from './routes.ts'

export interface VerifyOptions {
  readonly chain: ContractReader & HeadSource
  readonly routes: CctpRoutes
  readonly transmitters: readonly string[]
  /** Addresses of the chain's lanes, lower case. */
  readonly lanes: readonly string[]
  readonly finality: CctpFinality
  /** False if contracts see another chain's block numbers (Arbitrum): then only a revert shows an expiration. */
  readonly ownHeights: boolean
}

/** The attestation must not expire within the target's next `spareBlocks` blocks. Default: 1. */
export type Verify = (attested: Attested, spareBlocks?: number) => Promise<CctpRoute>

export type VerifySigned = (attested: Attested) => Promise<CctpRoute>

/**
 * Checks route, attestation, caller, finality and expiration, as the target's contracts do. Does not check whether the
 * nonce is used.
 */
export function createVerify(options: VerifyOptions) {
  const { chain, routes, lanes, finality } = options
  const attesters = new Map(options.transmitters.map((transmitter) => [transmitter, createAttesters(chain, transmitter)]))

  function attestersOf(transmitter: string): ReadAttesters {
    const read = attesters.get(transmitter)
    if (read) return read
    throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { facts: { chain: chain.name, transmitter } })
  }

  /** Returns the route of a message to this chain. Does not check the caller. Throws the errors of `routes.of`. */
  function routeHere(message: CctpMessage): CctpRoute {
    const route = routes.of(message)
    const facts = { chain: chain.name, destinationDomain: message.destinationDomain }
    if (route.target.chain !== chain.name) throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { facts })
    return route
  }

  /**
   * Returns the route of a message that a lane of this chain may deliver. Throws CCTP_CALLER and the errors of
   * `routeHere`.
   */
  function routeOf(message: CctpMessage): CctpRoute {
    const route = routeHere(message)
    if (mayDeliver(message, lanes)) return route
    throw new RelayerError('CCTP_CALLER', { facts: { destinationCaller: message.destinationCaller } })
  }

  function checkFresh(message: CctpMessage, spareBlocks: number): void {
    const { minFinality, finalityExecuted } = message
    if (!isFinalEnough(message, finality))
      throw new RelayerError('CCTP_NOT_ATTESTED', { facts: { minFinality, finalityExecuted, policy: finality } })
    const { expirationBlock } = readBurn(message)
    const last = BigInt(options.ownHeights ? (chain.heads.current?.latest.height ?? 0) + spareBlocks : 0)
    if (expirationBlock === 0n || expirationBlock > last) return
    throw new RelayerError('CCTP_EXPIRED', { facts: { chain: chain.name, expirationBlock: String(expirationBlock), last: String(last) } })
  }

  /**
   * Checks the route and the signatures, but not finality, expiration and caller. Throws CCTP_MESSAGE,
   * CCTP_ATTESTATION, read errors and the errors of `routeHere`.
   */
  async function verifySigned(attested: Attested): Promise<CctpRoute> {
    const message = readMessage(attested.bytes)
    const route = routeHere(message)
    if (message.nonce === zeroWord) throw new RelayerError('CCTP_MESSAGE', { detail: 'Circle has chosen no nonce.' })
    await verifyAttested(attested, attestersOf(route.to.transmitter))
    return route
  }

  return {
    routeHere,
    routeOf,
    verifySigned,
    /** Throws CCTP_NOT_ATTESTED, CCTP_EXPIRED and the errors of `routeOf` and `verifySigned`. */
    async verify(attested: Attested, spareBlocks = 1): Promise<CctpRoute> {
      const message = readMessage(attested.bytes)
      const route = routeOf(message)
      await verifySigned(attested)
      checkFresh(message, spareBlocks)
      return route
    },
  }
}

export function mayDeliver({ destinationCaller }: Pick<CctpMessage, 'destinationCaller'>, lanes: readonly string[]): boolean {
  return (
    destinationCaller === zeroWord || (destinationCaller.startsWith(zeroWord.slice(0, 26)) && lanes.includes(addressOf(destinationCaller)))
  )
}

export const refusals: Refusals = {
  ...placedRefusals,
  MESSAGE_MISMATCH: { kind: 'rejected' },
  CCTP_MESSAGE: { kind: 'rejected' },
  CCTP_ATTESTATION: { kind: 'wait', unverified: true },
  CCTP_NOT_ATTESTED: { kind: 'wait' },
  CCTP_EXPIRED: { kind: 'wait' },
  CCTP_CALLER: { kind: 'declined' },
  CCTP_UNPAID: { kind: 'declined' },
  PAYLOAD_KIND: { kind: 'declined' },
  TARGET_CHAIN_UNSUPPORTED: { kind: 'declined' },
  MESSAGE_TOO_LARGE: { kind: 'declined' },
}

/** Refusals right before a key signs: each rejects the call, because a newer attestation would need a new call. */
export const proofRefusals: Refusals = Object.fromEntries(Object.keys(refusals).map((code) => [code, { kind: 'rejected' }]))
