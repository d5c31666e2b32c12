import type { Chain } from '../../chains/port.ts'
import { RelayerError, toRelayerError } from '../../domain/errors.ts'
import { nextHead } from './context.ts'
import type { ScannedContext } from './context.ts'

/**
 * Reads, and what contradicts itself is read again a block later, by quorum: a fork may pass, and one node may be wrong. What still does, halts the route, and
 * nothing else; it is thrown again, so that the stream does not go past it. Throws what `read` throws, and SETTINGS_UNREACHABLE where the halt could not be
 * ordered.
 * @param read is told where to read: absent, one node's word is enough
 * @param split the same may be read in smaller parts: is asked before the second look, since nodes limit ranges; true: undefined is returned
 */
export async function haltOnMismatch<T>(
  context: ScannedContext,
  chain: Chain,
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
  context.logger.warn('a contradiction between the contracts of a route; looking again', {
    stream: context.source.config.stream,
    error: first.message,
  })
  await nextHead(chain, context.stopping)
  return secondLook(context, first, read)
}

async function secondLook<T>(context: ScannedContext, first: RelayerError, read: (at: 'agreed') => Promise<T>): Promise<T> {
  try {
    return await read('agreed')
  } catch (thrown) {
    const second = toRelayerError(thrown)
    const isSame = second.code === first.code && second.facts['nonce'] === first.facts['nonce']
    if (isSame) {
      await halt(context, second)
      throw second
    }
    // One node's word, which another one does not bear out: it is asked again soon.
    throw second.haltRoute ? new RelayerError('NODES_DISAGREE', { detail: second.message, cause: second }) : second
  }
}

/** Orders the halt, and raises the alarm until reads agree again. Throws SETTINGS_UNREACHABLE. */
export async function halt({ alarms, haltRoute, source }: ScannedContext, { code, message }: RelayerError): Promise<void> {
  alarms.add('mismatch')
  const { bridge, sourceChain, targetChain } = source
  await haltRoute({ bridge, sourceChain, targetChain, code, detail: message })
}
