import { namesOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { inForce, unfitting } from '../../domain/settings/in-force.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { Logger } from '../../observability/logger.ts'
import { orderName } from '../../operations/orders/scope-text.ts'
import { isUnread, type SettingsWatch } from '../../temporal/client/settings/settings-watch.ts'

/** The settings as this process applies them. Logs each order in force that contains a name missing from the config. */
export function settingsInForce(
  watch: Pick<SettingsWatch, 'current' | 'subscribe'>,
  { config, logger }: { readonly config: Pick<Config, 'bridges' | 'chains'>; readonly logger: Logger },
): () => Settings {
  const known = namesOf(config)
  let last: { readonly given: Settings; readonly applied: Settings } | undefined
  watch.subscribe((settings) => {
    for (const { order, why } of unfitting(settings, known))
      logger.warn('the config lacks a name of an order in force', { code: 'ORDER_NAME_UNKNOWN', order: orderName(order), why })
  })
  return () => {
    const given = watch.current()
    if (last?.given !== given) last = { given, applied: isUnread(given) ? given : inForce(given, known) }
    return last.applied
  }
}
