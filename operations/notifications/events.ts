import { createHash } from 'node:crypto'
import type { Condition } from '../../domain/notification/condition.ts'
import type { Notification, NotificationData } from '../../domain/notification/notification.ts'
import { printable } from '../../domain/text/printable.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import type { NotifiedTransfer } from '../../temporal/client/settings/notified-transfers.ts'
import { proofDespite, proofOf } from '../../temporal/client/transfers/run-proof.ts'

/**
 * The notification of a transfer's event. Its id depends only on the run, so every try, process and replay gives the
 * same id.
 */
export function transferNotification({ kind, id, runId, closedAt: _, at, ...facts }: NotifiedTransfer, proof: Proof): Notification {
  const type = `transfer.${kind}` as const
  // A delivery by another transaction (after a restore, for example) is a new event.
  return { id: idOf(type, id, runId, facts.txHash ?? ''), type, at, data: transferData(id, { ...facts, proof }) }
}

/** Makes the texts printable, because a stranger with access to Temporal may have written them. */
export function transferData(id: string, facts: Readonly<Record<string, string | undefined>>): NotificationData {
  const shown = Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [[name, printable(value)]]))
  return { transfer: printable(id), ...Object.fromEntries(shown) }
}

/** `at` (ms since the epoch) is the recorded time at which the condition was first seen, so the id stays the same. */
export function conditionNotification({ key, type, data }: Condition, at: number): Notification {
  return { id: idOf(key, at), type, at, data }
}

/**
 * Makes an id from its parts. The id contains no full stop, because full stops separate the signed parts of a webhook.
 */
export function idOf(...parts: readonly (string | number)[]): string {
  return `evt_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}`
}

const atOnce = 4

/** `encrypted`: only a holder of a key could encrypt the run's payload. `temporal`: Temporal lists the run. */
export type Proof = 'encrypted' | 'temporal'

/** The proof of each run. Undefined for a run that Portage did not write. Throws the errors of the client. */
export function proofsOf(
  client: TemporalClient,
  listed: readonly NotifiedTransfer[],
  requiresEncryption: boolean,
): Promise<readonly (Proof | undefined)[]> {
  return mapLimited(listed, atOnce, async (one) => {
    const proof = await proofOf(client, one).catch(proofDespite)
    if (proof === 'foreign') return undefined
    return proof === 'same' && requiresEncryption ? 'encrypted' : 'temporal'
  })
}

/** If encryption is not required, a stranger can forge the proof `encrypted`, so it becomes `temporal`. */
export function withProvable(notification: Notification, requiresEncryption: boolean): Notification {
  const { data } = notification
  return requiresEncryption || data['proof'] !== 'encrypted'
    ? notification
    : { ...notification, data: { ...data, proof: 'temporal' satisfies Proof } }
}
