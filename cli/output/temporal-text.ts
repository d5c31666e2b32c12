import type { ResolvedTemporal } from '../../config/temporal-access.ts'

/** With its source; without secrets. */
export function temporalText(settings: ResolvedTemporal['settings']): Record<string, string> {
  return Object.fromEntries(settings.map((setting) => [`temporal ${setting.name}`, settingText(setting)]))
}

/** `127.0.0.1:7233 (the config file)`; a secret: `from TEMPORAL_API_KEY`. */
export function settingText({ value, from }: ResolvedTemporal['settings'][number]): string {
  return value === undefined ? `from ${from}` : `${value} (${from})`
}
