import type { TemporalClient } from '../temporal/client/client.ts'
import { changeSettings } from '../temporal/client/settings.ts'
import { namesOf } from '../config/known-names.ts'
import type { Config } from '../config/schema.ts'
import type { HaltRoute, Mismatch } from '../intake/halt-route.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import { redactText } from '../observability/redact.ts'

/** Settings take a reason of at most this length (domain/settings/request.ts). */
const longestReason = 500

/** Orders the halt as `portage`, with the code in its reason. Many transfers of a route that meet the same at once make one order. */
export function createRouteHalts(options: {
  client: TemporalClient
  config: Config
  logger: Logger
  metrics: Pick<Metrics, 'bridgeMismatches'>
}): HaltRoute {
  const { client, config, logger, metrics } = options
  const underway = new Map<string, Promise<void>>()
  const order = async ({ bridge, sourceChain, targetChain, code, detail }: Mismatch) => {
    const route = `${bridge}:${sourceChain}:${targetChain}`
    metrics.bridgeMismatches.inc({ route, code })
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
    const known = underway.get(key)
    if (known) return known
    const ordered = order(mismatch).finally(() => underway.delete(key))
    underway.set(key, ordered)
    return ordered
  }
}
