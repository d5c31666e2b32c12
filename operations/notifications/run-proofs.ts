import type { Notification } from '../../domain/notification/notification.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { NotifiedTransfer } from '../../temporal/client/settings/notified-transfers.ts'
import { proofDespite, proofOf } from '../../temporal/client/visibility/run-proof.ts'

const atOnce = 4

/** `encrypted`: by a process with a key of `temporal.encryption`. `temporal`: by Temporal's list. */
export type Proof = 'encrypted' | 'temporal'

/** Undefined: not by Portage; `temporal`: unreadable. Throws as the client. @param isSealed refuses plain payloads */
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

/** Without encryption anybody with access to Temporal can write the state: it must not claim `encrypted`. */
export function withProvable(notification: Notification, isSealed: boolean): Notification {
  const { data } = notification
  return isSealed || data['proof'] !== 'encrypted'
    ? notification
    : { ...notification, data: { ...data, proof: 'temporal' satisfies Proof } }
}
