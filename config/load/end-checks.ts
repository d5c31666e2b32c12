import { numberOfUnconfigured } from '../../domain/transfer/transfer.ts'
import type { Problem } from './problems.ts'
import { type Chains, checkChain, type Fields, map, unless } from './raw-tree.ts'

/** Allows every chain of Wormhole as a source, for routes that name their emitters. */
export const anySource: Fields = { everySource: 'any' }

/** `sources`: fields of the bridge that allow sources without a node. Without them, both ends must be in the config. */
export function checkEnds(path: string, { source, target }: Fields, chains: Chains, sources?: Fields): Problem[] {
  const isLoop = typeof target === 'string' && source === target
  return [
    ...(sources ? checkSource(`${path}.source`, source, sources, chains) : checkChain(`${path}.source`, source, chains)),
    ...checkChain(`${path}.target`, target, chains),
    ...unless(!isLoop, `${path}.target`, 'is the source too', 'A route leads to another chain: correct one of them.'),
  ]
}

export function checkSource(path: string, source: unknown, { emitters, everySource }: Fields, chains: Chains): Problem[] {
  const number = typeof source === 'string' ? numberOfUnconfigured(source) : undefined
  if (number === undefined) return checkChain(path, source, chains)
  const [name] = [...chains].find(([, { wormholeChainId }]) => String(wormholeChainId) === number) ?? []
  if (name !== undefined) return [{ path, problem: `is the chain ${name} of this config`, remedy: `Write ${name}.` }]
  const isKnown = everySource !== undefined || Object.hasOwn(map(emitters), number)
  return unless(isKnown, path, 'is not a source of this config', `Set everySource, or emitters.${number}.`)
}
