import { awaitsNewSignatures, RelayerError, type ErrorCode } from '../../domain/errors.ts'
import type { Verdict } from '../port.ts'

/** What a refusal is: of the message for good, by policy, or until the world is ready. What is not here says nothing about the message. */
const kinds: Partial<Record<ErrorCode, 'rejected' | 'declined' | 'wait'>> = {
  MESSAGE_ENCODING: 'rejected',
  MESSAGE_MISMATCH: 'rejected',
  VAA_TRUNCATED: 'rejected',
  VAA_VERSION: 'rejected',
  VAA_SIGNATURE_ORDER: 'rejected',
  VAA_GUARDIAN_INDEX: 'rejected',
  VAA_SIGNATURE_INVALID: 'rejected',
  VAA_NO_QUORUM: 'rejected',
  GUARDIAN_SET_EXPIRED: 'rejected',
  GUARDIAN_SET_UNKNOWN: 'wait',
  PAYLOAD_KIND: 'rejected',
  PAYLOAD_LENGTH: 'rejected',
  EMITTER_UNKNOWN: 'rejected',
  PAYLOAD_WITH_CALL: 'declined',
  ASSET_UNSUPPORTED: 'declined',
  FEE_TOO_LOW: 'declined',
}

/** Runs checks that throw what they refuse. Errors that are no verdict on the message (a node is down) are thrown on. */
export async function toVerdict(check: () => Promise<readonly string[] | void>): Promise<Verdict> {
  try {
    return { kind: 'valid', warnings: (await check()) ?? [] }
  } catch (error) {
    const kind = error instanceof RelayerError ? kinds[error.code] : undefined
    if (kind === undefined) throw error
    const { code, message, remedy } = error as RelayerError
    // The remedy is the catalogue's and belongs to whoever shows the code.
    const reason = message.slice(0, -remedy.length).replace(/ → $/, '')
    return {
      kind,
      code,
      reason,
      ...(awaitsNewSignatures(code) && { awaitNewSignatures: true }),
      ...(code === 'GUARDIAN_SET_UNKNOWN' && { unverified: true }),
    }
  }
}
