import { RelayerError, toRelayerError } from '../../../domain/catalogue/errors.ts'
import { type FollowedChain, nextHead, type ScannedContext } from './context.ts'
import { problemOf } from '../../../observability/severity.ts'

/**
 * After a contradiction, reads again a block later, by quorum, since the cause may be a passing fork. A contradiction
 * that lasts halts the route and is thrown. Also throws errors of `read`, and SETTINGS_UNREACHABLE if the halt fails.
 * @param split called before the second read. True: shorter ranges can be read, so `haltOnMismatch` returns undefined
 */
export async function haltOnMismatch<T>(
  context: Pick<ScannedContext, 'source' | 'stopping' | 'logger' | 'alarms' | 'haltRoute'>,
  chain: FollowedChain,
  read: (at?: 'agreed') => Promise<T>,
  split: () => boolean = () => false,
): Promise<T | undefined> {
  let first: RelayerError
  try {
    return await read()
  } catch (thrown) {
    first = toRelayerError(thrown)
  }
  if (!first.haltRoute) throw first
  if (split()) return undefined
  const { source, stopping, logger } = context
  logger.warn('the contracts of a route contradict each other; reading again', { stream: source.config.stream, ...problemOf(first) })
  await nextHead(chain, stopping)
  try {
    return await read('agreed')
  } catch (thrown) {
    const second = toRelayerError(thrown)
    if (second.code === first.code && second.facts['nonce'] === first.facts['nonce']) {
      await halt(context, second)
      throw second
    }
    // The quorum's contradiction is not the first one, so it does not halt the route.
    throw second.haltRoute ? new RelayerError('NODES_DISAGREE', { detail: second.message, cause: second }) : second
  }
}

/** Orders the halt and raises the alarm. Throws SETTINGS_UNREACHABLE. */
export async function halt(context: Pick<ScannedContext, 'alarms' | 'haltRoute' | 'source'>, { code, message }: RelayerError) {
  context.alarms.add('mismatch')
  const { bridge, sourceChain, targetChain } = context.source
  await context.haltRoute({ bridge, sourceChain, targetChain, code, detail: message })
}
