import { createHash } from 'node:crypto'
import type { Condition } from '../../domain/notification/condition.ts'
import type { Notification, NotificationData } from '../../domain/notification/notification.ts'
import { printable } from '../../domain/text/printable.ts'
import type { NotifiedTransfer } from '../../temporal/client/settings/notified-transfers.ts'
import type { Proof } from './run-proofs.ts'

/** A listed delivery or reversal. The id follows from the run, so each try, process and replay has the same. */
export function transferNotification({ kind, id, runId, closedAt: _, at, ...facts }: NotifiedTransfer, proof: Proof): Notification {
  const type = `transfer.${kind}` as const
  // A run of a Temporal that was restored may deliver in another transaction: that is another delivery.
  return { id: idOf(type, id, runId, facts.txHash ?? ''), type, at, data: transferData(id, { ...facts, proof }) }
}

/** The facts of a transfer as printable texts: a stranger with access to Temporal may have written them. */
export function transferData(id: string, facts: Readonly<Record<string, string | undefined>>): NotificationData {
  const shown = Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [[name, printable(value)]]))
  return { transfer: printable(id), ...Object.fromEntries(shown) }
}

/** A condition that begins. @param at when it was first seen, ms since the epoch; recorded, so the id stays the same */
export function conditionNotification({ key, type, data }: Condition, at: number): Notification {
  return { id: idOf(key, at), type, at, data }
}

/** Contains no full stop, which separates the signed parts. */
export function idOf(...parts: readonly (string | number)[]): string {
  return `evt_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}`
}
