import type { Config } from '../config/schema.ts'
import type { TemporalClient } from '../temporal/client/client.ts'
import { changeSettings } from '../temporal/client/settings.ts'
import { namesOf } from '../config/known-names.ts'
import type { HaltRoute, Mismatch } from '../intake/halt-route.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import { redactText } from '../observability/redact.ts'

/** Longest reason of a change of the settings (domain/settings/request.ts). */
const longestReason = 500

/** Halts routes in the name of `portage`, with the code in the reason. One order is made for all transfers that find the same contradiction at once. */
export function createRouteHalts(options: {
  readonly client: TemporalClient
  readonly config: Config
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'portage_bridge_mismatch_total'>
}): HaltRoute {
  const { client, config, logger, metrics } = options
  const pending = new Map<string, Promise<void>>()
  const haltOnce = async ({ bridge, sourceChain, targetChain, code, detail }: Mismatch) => {
    const route = `${bridge}:${sourceChain}:${targetChain}`
    metrics.portage_bridge_mismatch_total.inc({ route, code })
    const reason = `${code}: ${redactText(detail)}`.slice(0, longestReason)
    logger.error('the contracts of a route contradict each other; the route is halted until a person ends it: portage unhalt', {
      bridge,
      sourceChain,
      targetChain,
      reason,
    })
    const scope = { bridge, sourceChain, targetChain }
    await changeSettings(client, namesOf(config), { by: 'portage', reason, orders: [{ kind: 'halt', scope }] })
  }
  return (mismatch) => {
    const key = [mismatch.bridge, mismatch.sourceChain, mismatch.targetChain, mismatch.code].join(':')
    const known = pending.get(key)
    if (known) return known
    const ordered = haltOnce(mismatch).finally(() => pending.delete(key))
    pending.set(key, ordered)
    return ordered
  }
}
