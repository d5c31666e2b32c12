import { namesOf } from '../config/known-names.ts'
import type { Config } from '../config/schema.ts'
import type { Settings, SettingsOrder } from '../domain/settings/settings.ts'
import type { TemporalClient } from '../temporal/client/client.ts'
import { changeSettings } from '../temporal/client/settings.ts'
import type { Call, Outcome } from './command.ts'
import type { Author } from './options.ts'
import { type Cell, facts } from './output.ts'

/** What became of an order. `asked`: it was sent as a signal, which has no answer. */
export interface Answer {
  readonly result: 'done' | 'unchanged' | 'asked'
  readonly json: object
  /** Shown with the result. */
  readonly about: Readonly<Record<string, Cell>>
}

/** Sends an order to a lane, a stream, the settings or a transfer. Throws the reason why the order is refused. */
export type Send = (temporal: TemporalClient, config: Config) => Promise<Answer>

/**
 * Gives an order and tells what became of it. Throws what sending throws.
 * @param words `done`: what is done, or asked for; `same`: why nothing has changed
 */
export async function order(call: Call<unknown>, send: Send, words: { readonly done: string; readonly same?: string }): Promise<Outcome> {
  const { result, json, about } = await call.withTemporal(send)
  const said = result === 'unchanged' ? (words.same ?? 'the order changes nothing as things are') : words.done
  return { json, text: facts({ [result]: said, ...about }) }
}

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
