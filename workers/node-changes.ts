import type { Chain } from '../chains/port.ts'
import { toRelayerError } from '../domain/errors.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'
import type { Logger } from '../observability/logger.ts'
import type { SettingsWatch } from '../temporal/client/settings-watch.ts'

/** Applies the operators' changes of nodes to the chains of this process, now and whenever they change. */
export function applyNodeChanges(
  watch: Pick<SettingsWatch, 'subscribe'>,
  chains: ReadonlyMap<ChainName, Pick<Chain, 'adjustNodes'>>,
  logger: Logger,
): void {
  const applied = new Map<string, string>()
  watch.subscribe(({ nodes }) => {
    for (const [name, chain] of chains) {
      const changes = nodes.filter((change) => change.chain === name)
      const text = JSON.stringify(changes)
      if (text === (applied.get(name) ?? '[]')) continue
      applied.set(name, text)
      try {
        chain.adjustNodes(changes)
        logger.info('nodes changed', { chain: name, nodes: changes.map((change) => change.name).join(', ') || 'as configured' })
      } catch (error) {
        logger.error('nodes could not be changed', { chain: name, error: toRelayerError(error).message })
      }
    }
  })
}
