import { encodeBase64 } from 'ethers'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type BridgeName, type ChainName, mostMessageBytes, type Transfer, unconfiguredSource } from '../../domain/transfer/transfer.ts'
import { parseVaa, type Vaa } from '../../domain/vaa.ts'
import { digestOf } from './guardian-sets.ts'
import type { Decode } from './published.ts'
import type { Refusals } from './verdict.ts'

export const signedRefusals = {
  MESSAGE_ENCODING: { kind: 'rejected' },
  MESSAGE_MISMATCH: { kind: 'rejected' },
  VAA_TRUNCATED: { kind: 'rejected' },
  VAA_VERSION: { kind: 'rejected' },
  VAA_SIGNATURE_ORDER: { kind: 'rejected' },
  VAA_GUARDIAN_INDEX: { kind: 'rejected' },
  VAA_SIGNATURE_INVALID: { kind: 'rejected' },
  VAA_NO_QUORUM: { kind: 'rejected' },
  GUARDIAN_SET_EXPIRED: { kind: 'rejected', awaitNewSignatures: true },
  GUARDIAN_SET_UNKNOWN: { kind: 'wait', unverified: true },
  // The submitter refuses such a message. A transfer has this error only if a node is far behind or lies.
  GUARDIAN_SET_IMPOSSIBLE: { kind: 'wait', unverified: true },
  MESSAGE_TOO_LARGE: { kind: 'declined' },
  EMITTER_UNKNOWN: { kind: 'rejected' },
  PAYLOAD_KIND: { kind: 'rejected' },
  PAYLOAD_LENGTH: { kind: 'rejected' },
} as const satisfies Refusals

/** Wormhole chain id → name, for every chain of the config. */
export type ChainNames = ReadonlyMap<number, ChainName>

export function signedBy(bytes: Uint8Array): number {
  return parseVaa(bytes).guardianSetIndex
}

/** The transfer of a signed message. Unknown sources are named `wormhole-<id>`. Throws MESSAGE_TOO_LARGE. */
export function toTransfer(
  bridge: BridgeName,
  bytes: Uint8Array,
  { vaa, digest = digestOf(vaa) }: { readonly vaa: Vaa; readonly digest?: string },
  { chainNames, targetChain }: { readonly chainNames: ChainNames; readonly targetChain: ChainName },
): Transfer {
  if (bytes.length > mostMessageBytes)
    throw new RelayerError('MESSAGE_TOO_LARGE', { facts: { bytes: bytes.length, most: mostMessageBytes } })
  return {
    bridge,
    sourceChain: sourceName(chainNames, vaa.emitterChain),
    sourceId: String(vaa.emitterChain),
    targetChain,
    emitter: vaa.emitter,
    sequence: vaa.sequence,
    digest,
    message: encodeBase64(bytes),
  }
}

export function sourceName(chainNames: ChainNames, wormholeChainId: number): ChainName {
  return chainNames.get(wormholeChainId) ?? unconfiguredSource(wormholeChainId)
}

/** Throws MESSAGE_MISMATCH unless the transfer is the message's own. */
export function demandSame(transfer: Transfer, { vaa, digest }: { readonly vaa: Vaa; readonly digest: string }): void {
  const isSource = vaa.emitter === transfer.emitter && String(vaa.emitterChain) === transfer.sourceId
  if (digest === transfer.digest && isSource && vaa.sequence === transfer.sequence) return
  throw new RelayerError('MESSAGE_MISMATCH', { facts: { digest: transfer.digest, found: digest } })
}

/**
 * Asks the bridges in turn. A bridge that throws PAYLOAD_KIND does not own the message. Throws the error of the owner,
 * or of the last bridge if none owns it.
 */
export function firstOwner(decodes: readonly Decode[]): Decode {
  return (message) => {
    let refusal: unknown
    for (const decode of decodes) {
      try {
        return decode(message)
      } catch (error) {
        if (!(error instanceof RelayerError) || error.code !== 'PAYLOAD_KIND') throw error
        refusal = error
      }
    }
    throw refusal
  }
}
