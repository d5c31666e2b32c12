import { aboutSettings } from '../operations/access/subjects.ts'
import { namesOf } from '../config/chains.ts'
import type { Config } from '../config/schema/schema.ts'
import { majorityWarnings } from '../domain/settings/node-majority.ts'
import type { KnownNames } from '../domain/settings/known-names.ts'
import type { Settings, SettingsOrder } from '../domain/settings/settings.ts'
import type { TemporalClient } from '../temporal/client/connection/client.ts'
import { changeSettings, readSettings } from '../temporal/client/settings/settings.ts'
import type { Allow } from './access.ts'
import type { Call, Outcome } from './command.ts'
import type { Reasoned } from './arguments/options.ts'
import { type Cell, facts } from './output/output.ts'

/** `done`: what is done, or asked for; `same`: why nothing has changed. */
export interface Words {
  readonly done: string
  readonly same?: string
}

/** What became of an order. `asked`: it was sent as a signal, which has no answer. */
interface Answer {
  readonly result: 'done' | 'unchanged' | 'asked'
  readonly json: object
  /** Shown with the result. */
  readonly about: Readonly<Record<string, Cell>>
}

/** Sends an order to a lane, a stream, the settings or a transfer, and tells what became of it. Throws the reason why the order is refused. */
export async function order(
  call: Call,
  words: Words,
  send: (temporal: TemporalClient, config: Config, allow: Allow) => Promise<Answer>,
): Promise<Outcome> {
  const { result, json, about } = await call.withOrder(send)
  const said = result === 'unchanged' ? (words.same ?? 'the order changes nothing as things are') : words.done
  return { json, text: facts({ [result]: said, ...about }) }
}

/** Orders that depend on the present settings, and what is shown with their result. */
type Plan = (settings: Settings, config: Config) => { readonly orders: readonly SettingsOrder[]; readonly about?: Answer['about'] }

/** Changes the settings: obeys all orders, or none. Throws INPUT_INVALID, SETTINGS_UNREACHABLE, TEMPORAL_UNAVAILABLE, and what the plan throws. */
export function sendToSettings(
  call: Call<Reasoned>,
  words: Words,
  wanted: readonly SettingsOrder[] | Plan,
  { unlistedTokens }: Pick<KnownNames, 'unlistedTokens'> = {},
): Promise<Outcome> {
  return order(call, words, async (client, config, allow) => {
    const { orders, about } = typeof wanted === 'function' ? wanted(await readSettings(client), config) : { orders: wanted }
    const { by, reason } = allow(aboutSettings(orders))
    const known = { ...namesOf(config), ...(unlistedTokens && { unlistedTokens }) }
    const { before, after } = await changeSettings(client, known, { by, reason, orders: [...orders] })
    const warnings = majorityWarnings(orders, after, known.voters ?? {})
    const changed = after.version > before.version
    return {
      result: changed ? 'done' : 'unchanged',
      json: { changed, ...withoutAudit(after), ...(warnings.length > 0 && { warnings }) },
      about: { ...about, ...(warnings.length > 0 && { warning: warnings.join('\n') }), version: after.version },
    }
  })
}

/** Without the audit and the tokens, which have commands of their own. */
export function withoutAudit({ audit: _, tokens: __, ...settings }: Settings): Omit<Settings, 'audit' | 'tokens'> {
  return settings
}
