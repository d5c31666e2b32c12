import { RelayerError, toRelayerError } from '../../../domain/catalogue/errors.ts'
import { type FollowedChain, nextHead, type ScannedContext } from './context.ts'
import { problemOf } from '../../../observability/severity.ts'

/**
 * Reads; a contradiction is read again a block later, by quorum: a fork may pass, and one node may be wrong. If it is still there, the route is halted, and
 * it is thrown, so that the stream does not go past it. Throws what `read` throws, and SETTINGS_UNREACHABLE where the halt could not be ordered.
 * @param split called before the second look, since nodes limit ranges; true: the same can be read in smaller parts, and undefined is returned
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
  logger.warn('a contradiction between the contracts of a route; looking again', { stream: source.config.stream, ...problemOf(first) })
  await nextHead(chain, stopping)
  try {
    return await read('agreed')
  } catch (thrown) {
    const second = toRelayerError(thrown)
    if (second.code === first.code && second.facts['nonce'] === first.facts['nonce']) {
      await halt(context, second)
      throw second
    }
    // One node's word, which the others do not confirm: it is asked again soon.
    throw second.haltRoute ? new RelayerError('NODES_DISAGREE', { detail: second.message, cause: second }) : second
  }
}

/** Orders the halt, and raises the alarm until reads agree again. Throws SETTINGS_UNREACHABLE. */
export async function halt(
  { alarms, haltRoute, source }: Pick<ScannedContext, 'alarms' | 'haltRoute' | 'source'>,
  { code, message }: RelayerError,
): Promise<void> {
  alarms.add('mismatch')
  const { bridge, sourceChain, targetChain } = source
  await haltRoute({ bridge, sourceChain, targetChain, code, detail: message })
}
