import { laneOrders } from './lane.ts'
import { localOrders } from './local.ts'
import { notificationOrders } from './notifications.ts'
import { paymentOrders } from './payments.ts'
import { settingsCommands } from './settings.ts'
import type { OrderSpec } from './spec.ts'
import { streamOrders } from './stream.ts'
import { transferOrders } from './transfer.ts'

/**
 * All orders of operators by the words of their commands; every other command only reads. Levels: `write` for orders to
 * transfers; `sign` for orders that make a key sign, stop it, or drop a number of a stream; `admin` for orders about
 * everything, and about tokens. docs/operate/access.md shows the table.
 */
export const orders = {
  ...transferOrders,
  ...laneOrders,
  ...paymentOrders,
  ...streamOrders,
  ...settingsCommands,
  ...notificationOrders,
  ...localOrders,
} satisfies Record<string, OrderSpec>

export type OrderName = keyof typeof orders

export function orderOf(name: OrderName): OrderSpec {
  return orders[name]
}

/** Undefined for a command that only reads. */
export function orderNamed(command: string): OrderName | undefined {
  return Object.hasOwn(orders, command) ? (command as OrderName) : undefined
}
