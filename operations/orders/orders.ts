import { laneOrders } from './lane.ts'
import { localOrders } from './local.ts'
import { notificationOrders } from './notifications.ts'
import { paymentOrders } from './payments.ts'
import { settingsCommands } from './settings.ts'
import type { OrderSpec } from './spec.ts'
import { streamOrders } from './stream.ts'
import { transferOrders } from './transfer.ts'

/** By command. Levels: write for transfers, sign for keys, admin for everything and tokens (docs/operate/access.md). */
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

/** Undefined: the command only reads. */
export function orderNamed(command: string): OrderName | undefined {
  return Object.hasOwn(orders, command) ? (command as OrderName) : undefined
}
