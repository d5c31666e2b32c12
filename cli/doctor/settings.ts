import { namesOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { catalogue } from '../../domain/catalogue/catalogue.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { unfitting } from '../../domain/settings/in-force.ts'
import type { KnownNames } from '../../domain/settings/known-names.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import { unfittingText } from '../../operations/orders/scope-text.ts'
import { readSettings } from '../../temporal/client/settings/settings.ts'
import { type Check, type Finding, ifReachable, look, orError, warn } from './check.ts'

export async function checkSettings(config: Config, temporal: TemporalAccess): Promise<Check[]> {
  return ifReachable(temporal, async (client) => [
    await look('settings', 'names in orders', async () => {
      const answer = await orError(readSettings(client), 'SETTINGS_UNREACHABLE')
      return answer instanceof RelayerError
        ? warn('no worker serves the settings now', answer.remedy)
        : namesFinding(answer, namesOf(config))
    }),
  ])
}

export function namesFinding(settings: Settings, known: KnownNames): Finding {
  const found = unfittingText(unfitting(settings, known))
  return found === undefined ? 'the config has them all' : warn(found, catalogue.ORDER_NAME_UNKNOWN.remedy)
}
