import { createHash } from 'node:crypto'
import type { Condition } from '../../domain/notification/condition.ts'
import type { Notification, NotificationData } from '../../domain/notification/notification.ts'
import { printable } from '../../domain/text/printable.ts'
import type { NotifiedTransfer } from '../../temporal/client/settings/notified-transfers.ts'
import type { Proof } from './written-runs.ts'

/** What Temporal's list says of a transfer, and what stands behind that. The id follows from the run, so that it is the same at each try, in each process, and at a replay. */
export function transferNotification({ kind, id, runId, closedAt: _, at, ...facts }: NotifiedTransfer, proof: Proof): Notification {
  const type = `transfer.${kind}` as const
  // A run that Temporal has again, from a copy, may deliver in another transaction: that is another delivery.
  return { id: idOf(type, id, runId, facts.txHash ?? ''), type, at, data: transferData(id, { ...facts, proof }) }
}

/** What is shown of a transfer. Whoever reaches Temporal wrote it, perhaps. */
export function transferData(id: string, facts: Readonly<Record<string, string | undefined>>): NotificationData {
  const shown = Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [[name, printable(value)]]))
  return { transfer: printable(id), ...Object.fromEntries(shown) }
}

/** A condition that begins. @param at when it was first seen, ms since the epoch: recorded before it is sent, so that the id stays */
export function conditionNotification({ key, type, data }: Condition, at: number): Notification {
  return { id: idOf(key, at), type, at, data }
}

/** Without a full stop, which separates the parts of what is signed. */
export function idOf(...parts: readonly (string | number)[]): string {
  return `evt_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}`
}
