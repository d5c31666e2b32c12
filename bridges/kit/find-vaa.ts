import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Attestation } from '../port.ts'

export interface MessagePlace {
  /** Wormhole chain id. */
  readonly chain: number
  /** 64 lower-case hex digits. */
  readonly emitter: string
  /** u64, decimal. */
  readonly sequence: string
}

/** Finds the VAA of a message at guardian APIs. Does not check signatures. Never throws. */
export type FindVaa = (
  place: MessagePlace,
) => Promise<
  | { readonly kind: 'found'; readonly vaa: Uint8Array }
  | { readonly kind: 'absent' | 'unknown'; readonly againInMs?: number | undefined; readonly why: string }
>

const firstWaitMs = 5_000

/** Finds and verifies the VAA of a message. Never throws. */
export async function attestByVaa(findVaa: FindVaa, verify: (vaa: Uint8Array) => Promise<void>, place: MessagePlace): Promise<Attestation> {
  const found = await findVaa(place)
  if (found.kind !== 'found')
    return { kind: 'wait', code: 'VAA_NOT_FOUND', reason: found.why, retryInMs: Math.max(firstWaitMs, found.againInMs ?? 0) }
  try {
    await verify(found.vaa)
    return { kind: 'attested', message: found.vaa }
  } catch (error) {
    const { code, message: reason } = toRelayerError(error)
    return { kind: 'wait', code, reason, retryInMs: firstWaitMs }
  }
}
