import { RelayerError, toRelayerError } from '../../../domain/catalogue/errors.ts'
import { type FollowedChain, nextHead, type Route, type ScannedContext } from './context.ts'
import { problemOf } from '../../../observability/severity.ts'

/**
 * Reads, and halts the route if its contracts contradict each other. A wrong node or a short fork may cause a
 * contradiction, so most nodes are read before the route is halted. Throws a lasting contradiction,
 * SETTINGS_UNREACHABLE and the errors of `read`.
 * @param split called before the second read. If it returns true, the caller reads a shorter range
 */
export async function haltOnMismatch<T>(
  context: Pick<ScannedContext, 'source' | 'route' | 'stopping' | 'logger' | 'alarms' | 'haltRoute'>,
  chain: FollowedChain | undefined,
  read: (at?: 'agreed') => Promise<T>,
  split: () => boolean = () => false,
): Promise<T | undefined> {
  let first: RelayerError
  try {
    return await read()
  } catch (thrown) {
    first = toRelayerError(thrown)
  }
  const { source, route, stopping, logger } = context
  if (!first.haltRoute || !route || !chain) throw first
  if (split()) return undefined
  logger.warn('the contracts of a route contradict each other; reading again', { stream: source.config.stream, ...problemOf(first) })
  await nextHead(chain, stopping)
  try {
    return await read('agreed')
  } catch (thrown) {
    const second = toRelayerError(thrown)
    if (second.code === first.code && second.facts['nonce'] === first.facts['nonce']) {
      await halt(context, route, second)
      throw second
    }
    // Most nodes do not show the first contradiction.
    throw second.haltRoute ? new RelayerError('NODES_DISAGREE', { detail: second.message, cause: second }) : second
  }
}

export async function halt(
  { alarms, haltRoute, source }: Pick<ScannedContext, 'alarms' | 'haltRoute' | 'source'>,
  { source: { targetChain } }: Route,
  { code, message }: RelayerError,
) {
  alarms.add('mismatch')
  const { bridge, sourceChain } = source
  await haltRoute({ bridge, sourceChain, targetChain, code, detail: message })
}
