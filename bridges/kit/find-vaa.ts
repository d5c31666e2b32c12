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

/**
 * Passes the copies of a VAA that guardian APIs have to `verify`, one after the other, until `verify` accepts one. If
 * `verify` refuses all copies, throws the first refusal. Throws other errors of `verify` at once.
 */
export type FindVaa = (
  place: MessagePlace,
  verify: (vaa: Uint8Array) => Promise<void>,
) => Promise<
  | { readonly kind: 'found'; readonly vaa: Uint8Array }
  | { readonly kind: 'absent' | 'unknown'; readonly againInMs?: number | undefined; readonly why: string }
>

const firstWaitMs = 5_000

/** Finds and verifies the VAA of a message. Never throws. */
export async function attestByVaa(findVaa: FindVaa, verify: (vaa: Uint8Array) => Promise<void>, place: MessagePlace): Promise<Attestation> {
  try {
    const found = await findVaa(place, verify)
    if (found.kind === 'found') return { kind: 'attested', message: found.vaa }
    // `unknown`: every API asks for a pause. With `absent`, at least one API has answered, so no pause is needed.
    const retryInMs = Math.max(firstWaitMs, found.kind === 'unknown' ? (found.againInMs ?? 0) : 0)
    return { kind: 'wait', code: 'VAA_NOT_FOUND', reason: found.why, retryInMs }
  } catch (error) {
    const { code, message: reason } = toRelayerError(error)
    return { kind: 'wait', code, reason, retryInMs: firstWaitMs }
  }
}
