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

/** Applies all orders of a request, or none. Answers with the new settings. */
export const changeSettingsUpdate = defineUpdate<Settings, [SettingsRequest]>('change')
export const settingsQuery = defineQuery<Settings>('settings')
