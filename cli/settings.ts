import { changeSettings } from '../temporal/client/settings.ts'
import { namesOf } from '../config/known-names.ts'
import type { Settings, SettingsOrder } from '../domain/settings/settings.ts'
import type { Author } from './options.ts'
import type { Send } from './orders.ts'

/** Orders to change the settings: all of them, or none. Throws INPUT_INVALID, SETTINGS_UNREACHABLE, TEMPORAL_UNAVAILABLE. */
export function toSettings({ by, reason }: Author, ...orders: readonly SettingsOrder[]): Send {
  return async (client, config) => {
    const { before, after } = await changeSettings(client, namesOf(config), { by, reason, orders: [...orders] })
    const changed = after.version > before.version
    return { result: changed ? 'done' : 'unchanged', json: { changed, ...withoutAudit(after) }, about: { version: after.version } }
  }
}

export function withoutAudit({ audit: _, ...settings }: Settings): Omit<Settings, 'audit'> {
  return settings
}
