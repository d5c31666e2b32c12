import type { Order } from '../../domain/order.ts'
import type { Settings, SettingsOrder } from '../../domain/settings/settings.ts'
import { defineQuery, defineUpdate } from '@temporalio/workflow'

export interface SettingsInput {
  settings?: Settings
  updatesPerRun?: number
}

export interface SettingsRequest extends Order {
  orders: SettingsOrder[]
}

/** All orders of a request are applied, or none. */
export const changeSettingsUpdate = defineUpdate<Settings, [SettingsRequest]>('change')
export const settingsQuery = defineQuery<Settings>('settings')
