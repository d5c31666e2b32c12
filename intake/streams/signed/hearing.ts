import type { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Outcome } from '../../submit/submissions.ts'
import type { SignedAuditor } from './audit/audit.ts'
import type { createDelayedMessages } from './gaps/blocked.ts'
import type { SignedDeps } from './deps.ts'
import { isUntaken } from './gaps/fetch-missing.ts'
import type { createPassedOver } from './gaps/passed-over.ts'
import type { Recorder } from './recorder.ts'
import type { ExpectedOfSpy } from './spy-silence.ts'
import { mayBegin } from './without-node.ts'

export interface HearingDeps extends Pick<SignedDeps, 'source' | 'bridge' | 'streamClient' | 'logger'> {
  readonly recorder: Pick<Recorder, 'add'>
  readonly delayed: ReturnType<typeof createDelayedMessages>
  readonly expected: Pick<ExpectedOfSpy, 'tell'>
  readonly auditor: Pick<SignedAuditor, 'know'>
  readonly passOver: ReturnType<typeof createPassedOver>
}

/** What becomes of the messages of an emitter that a spy tells. */
export function createHearing(deps: HearingDeps) {
  const { source, bridge, streamClient, logger, recorder, delayed, expected, auditor, passOver } = deps

  async function hear(sequence: string, vaa: Uint8Array, outcome: Outcome): Promise<void> {
    if (outcome.kind !== 'refused') auditor.know(outcome.id, bridge.decode(vaa))
    // If the stream runs after all, and has not answered yet, the number is found as a gap.
    if (source.withoutNode && !streamClient.view && !mayBegin(vaa)) return
    if (outcome.kind !== 'refused') recorder.add(sequence, 'started')
    else if (isUntaken(source, outcome.error)) recorder.add(sequence, 'ignored')
    else await passOver(sequence, vaa)
  }

  return {
    /** A message of a spy cannot be submitted now. If the source counts it, its number is a gap, which says why. */
    delayed(sequence: string, vaa: Uint8Array, error: RelayerError): void {
      expected.tell(sequence)
      delayed.add(sequence, vaa, error)
    },
    /** The outcome of a message of a spy. */
    heard(sequence: string, vaa: Uint8Array, outcome: Outcome): void {
      expected.tell(sequence)
      delayed.delete(sequence)
      // A message that cannot be classified now is a gap, which the audit fills or ignores.
      hear(sequence, vaa, outcome).catch((error: unknown) =>
        logger.debug('a message was not recorded in its stream', { stream: source.config.stream, error: String(error) }),
      )
    },
  }
}
