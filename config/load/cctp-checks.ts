import { isShownName, type Problem } from './problems.ts'
import { type Chains, checkChain, type Fields, map, repeated } from './raw-tree.ts'

const path = 'bridges.cctp'

export function checkCctp({ chains: own, free, senders, recipients }: Fields, chains: Chains, executor: unknown): Problem[] {
  const named = Object.entries(map(own)).flatMap(([name, fields]) => (isShownName(name) ? [[name, map(fields)] as const] : []))
  const names = chains.map(([name]) => name)
  const isListed = [senders, recipients].some((list) => Array.isArray(list) && list.length > 0)
  const tooFew = { path: `${path}.chains`, problem: 'has fewer than two chains', remedy: 'Add the chains between which tokens are sent.' }
  const noVersion = (name: string) => ({
    ...{ path: `${path}.chains.${name}`, problem: 'has no contracts' },
    remedy: "Add v1 or v2 with Circle's addresses.",
  })
  return [
    ...(own === undefined || named.length > 1 ? [] : [tooFew]),
    ...checkPayer({ isFree: free !== undefined, isListed, isPaid: executor !== undefined }),
    ...named.flatMap(([name]) => checkChain(`${path}.chains.${name}`, name, names)),
    ...named.flatMap(([name, { v1, v2 }]) => (v1 === undefined && v2 === undefined ? [noVersion(name)] : [])),
    ...repeated(
      named.map(([, { domain }]) => domain),
      (index) => `${path}.chains.${named[index]?.[0]}.domain`,
      (_, first) => `is the domain of ${named[first]?.[0]} too`,
      'Every domain is one chain: correct one of them.',
    ),
  ]
}

function checkPayer({ isFree, isListed, isPaid }: Readonly<Record<'isFree' | 'isListed' | 'isPaid', boolean>>): Problem[] {
  if (isFree !== isListed || (isPaid && !isFree)) return []
  if (isFree) return [{ path: `${path}.free`, problem: 'makes senders and recipients useless', remedy: 'Remove it, or the lists.' }]
  return [
    {
      path,
      problem: 'delivers no burn',
      remedy: 'List senders or recipients, set free: true, or add bridges.executor, whose requests pay.',
    },
  ]
}
