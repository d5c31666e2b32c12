import { setTimeout as delay } from 'node:timers/promises'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { lookForCodes } from '../../temporal/client/connection/search-attributes.ts'
import { searchAttributes } from '../../temporal/contracts/names.ts'
import type { Service } from '../roles/context.ts'

/** Between two looks while the namespace lacks the attribute, ms: as old as a server's knowledge of a namespace may be. */
const lookEveryMs = 10_000

/**
 * Looks whether the namespace has the search attribute `PortageCode`, until it does. A namespace that an earlier release has set up lacks it until
 * `portage setup temporal`: there transfers go on as before. One warning says so, at the second look: one that was just set up may not be known everywhere yet. Never throws.
 */
export async function watchCodeAttribute({
  client,
  logger,
  everyMs = lookEveryMs,
}: {
  readonly client: TemporalClient
  readonly logger: Logger
  readonly everyMs?: number
}): Promise<Service> {
  const stopping = new AbortController()
  const { name } = searchAttributes.PortageCode
  let isThere = false
  let misses = 0
  const look = async () => {
    try {
      isThere = await lookForCodes(client)
    } catch (error) {
      logger.debug('whether the namespace has a search attribute is not known now', { name, reason: toRelayerError(error).message })
      return
    }
    if (isThere && misses > 1) logger.info('the namespace has the search attribute now: transfers write their code into it', { name })
    if (isThere || ++misses !== 2) return
    logger.warn('the namespace lacks a search attribute: transfers cannot be found by their code until it is there', {
      code: 'SEARCH_ATTRIBUTE_MISSING',
      name,
    })
  }
  const watch = async () => {
    while (!isThere && !stopping.signal.aborted) {
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => {})
      if (!stopping.signal.aborted) await look()
    }
  }
  await look()
  const watching = watch()
  return {
    stop() {
      stopping.abort()
      return watching
    },
  }
}
