import type { Notification } from '../../domain/notification/notification.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { NotifiedTransfer } from '../../temporal/client/settings/notified-transfers.ts'
import { proofDespite, proofOf } from '../../temporal/client/visibility/run-proof.ts'

/** Runs that are read at a time. */
const atOnce = 4

/** What is told of a run. `encrypted`: a process with a key of `temporal.encryption` wrote it. `temporal`: it rests on Temporal's word alone. */
export type Proof = 'encrypted' | 'temporal'

/**
 * What stands behind what a list shows; undefined for a run that Portage has not written. A run that cannot be read is told by the list's word: it holds up no
 * other. Throws what the Temporal client throws where the server is away or refuses us, whatever is asked.
 * @param isSealed payloads that are not encrypted are refused
 */
export async function proofsOf(
  client: TemporalClient,
  listed: readonly NotifiedTransfer[],
  isSealed: boolean,
): Promise<readonly (Proof | undefined)[]> {
  const proofs: (Proof | undefined)[] = []
  for (let at = 0; at < listed.length; at += atOnce) {
    const read = listed.slice(at, at + atOnce).map(async (one) => {
      const proof = await proofOf(client, one).catch(proofDespite)
      if (proof === 'foreign') return undefined
      return proof === 'same' && isSealed ? 'encrypted' : 'temporal'
    })
    proofs.push(...(await Promise.all(read)))
  }
  return proofs
}

/**
 * A notification as it may be signed. What a notifier carries from step to step comes out of Temporal: where payloads need no encryption, whoever reaches it writes
 * what he likes, and nothing of that may say that one of us has written it.
 */
export function provedAtMost(notification: Notification, isSealed: boolean): Notification {
  const { data } = notification
  return isSealed || data['proof'] !== 'encrypted'
    ? notification
    : { ...notification, data: { ...data, proof: 'temporal' satisfies Proof } }
}
