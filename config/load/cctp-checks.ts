import { isShownName, type Problem } from './problems.ts'
import { type Chains, checkChain, type Fields, map, repeated, unless } from './raw-tree.ts'

const path = 'bridges.cctp'

export function checkCctp({ chains: own, free, senders, recipients }: Fields, chains: Chains, executor: unknown): Problem[] {
  const named = Object.entries(map(own)).flatMap(([name, fields]) => (isShownName(name) ? [[name, map(fields)] as const] : []))
  const isFree = free !== undefined
  const isListed = [senders, recipients].some((list) => Array.isArray(list) && list.length > 0)
  const remedy = 'List senders or recipients, set free: true, or add bridges.executor, whose requests pay.'
  return [
    ...unless(
      own === undefined || named.length > 1,
      `${path}.chains`,
      'has fewer than two chains',
      'Add the chains between which tokens are sent.',
    ),
    ...unless(!isFree || !isListed, `${path}.free`, 'makes senders and recipients useless', 'Remove it, or the lists.'),
    ...unless(isFree || isListed || executor !== undefined, path, 'delivers no burn', remedy),
    ...named.flatMap(([name]) => checkChain(`${path}.chains.${name}`, name, chains)),
    ...named.flatMap(([name, { v1, v2 }]) =>
      unless(v1 !== undefined || v2 !== undefined, `${path}.chains.${name}`, 'has no contracts', "Add v1 or v2 with Circle's addresses."),
    ),
    ...repeated(
      named.map(([, { domain }]) => domain),
      (index) => `${path}.chains.${named[index]?.[0]}.domain`,
      (_, first) => `is the domain of ${named[first]?.[0]} too`,
      'Every domain is one chain: correct one of them.',
    ),
  ]
}
