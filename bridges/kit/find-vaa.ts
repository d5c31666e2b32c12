import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { type FindVaa, type MessagePlace, takeVaa } from '../../runtime/take-vaa.ts'
import type { Attestation } from '../port.ts'

export type { FindVaa }

const firstWaitMs = 5_000

/** Finds and verifies the VAA of a message. Never throws. */
export async function attestByVaa(findVaa: FindVaa, verify: (vaa: Uint8Array) => Promise<void>, place: MessagePlace): Promise<Attestation> {
  try {
    const found = await takeVaa(findVaa, place, async (vaa) => verify(vaa).then(() => vaa))
    if (found.kind === 'taken') return { kind: 'attested', message: found.value }
    // Only if every API asks for a pause, the pause matters.
    const retryInMs = Math.max(firstWaitMs, found.kind === 'unknown' ? (found.againInMs ?? 0) : 0)
    return { kind: 'wait', code: 'VAA_NOT_FOUND', reason: found.why, retryInMs }
  } catch (error) {
    const { code, message: reason } = toRelayerError(error)
    return { kind: 'wait', code, reason, retryInMs: firstWaitMs }
  }
}
