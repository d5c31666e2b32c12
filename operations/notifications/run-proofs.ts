import type { Notification } from '../../domain/notification/notification.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { NotifiedTransfer } from '../../temporal/client/settings/notified-transfers.ts'
import { proofDespite, proofOf } from '../../temporal/client/visibility/run-proof.ts'

/** Runs that are read at the same time. */
const atOnce = 4

/** `encrypted`: written by a process with a key of `temporal.encryption`. `temporal`: by Temporal's list alone. */
export type Proof = 'encrypted' | 'temporal'

/**
 * The proof of each listed run; undefined for a run that Portage did not write. A run that cannot be read has the proof
 * `temporal`, so that it does not hold up others. Throws what the Temporal client throws if the server is away or
 * refuses Portage.
 * @param isSealed payloads that are not encrypted are refused
 */
export function proofsOf(
  client: TemporalClient,
  listed: readonly NotifiedTransfer[],
  isSealed: boolean,
): Promise<readonly (Proof | undefined)[]> {
  return mapLimited(listed, atOnce, async (one) => {
    const proof = await proofOf(client, one).catch(proofDespite)
    if (proof === 'foreign') return undefined
    return proof === 'same' && isSealed ? 'encrypted' : 'temporal'
  })
}

/**
 * A notification as it may be signed. The state that a notifier carries comes out of Temporal. If payloads need no
 * encryption, anybody with access to Temporal can write that state, so it must not claim the proof `encrypted`.
 */
export function withProvable(notification: Notification, isSealed: boolean): Notification {
  const { data } = notification
  return isSealed || data['proof'] !== 'encrypted'
    ? notification
    : { ...notification, data: { ...data, proof: 'temporal' satisfies Proof } }
}
