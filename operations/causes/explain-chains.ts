import { ageText } from '../../domain/text/age.ts'
import type { ChainFacts, Facts, NodeFacts, NodeHead, TransferFacts } from './facts.ts'
import { type Finding, goesOn } from './finding.ts'
import { errorOf, valueOf } from './read.ts'

/** A node more blocks than this from the others lags, as in chains/evm/nodes. */
const mostLag = 5
/** Some nodes hear of blocks before others; one that is so far above them is no node of this chain. */
const mostAhead = 64
/** A chain stands if its head is older than so many block times, and than so long, ms. */
export const standing = { blocks: 20, leastMs: 30_000 } as const
/** Finality stands if the newest final block is older than that and the config says nothing else, ms: that of most chains is minutes, and of some half an hour away. */
const usualFinalityStalledMs = 3_600_000

/** What is wrong with chains and their nodes. */
export function explainChains({ at, chains }: Pick<Facts, 'at' | 'chains'>): Finding[] {
  return chains.flatMap((chain) => {
    const readers = chain.nodes.filter(({ use, isAdded }) => (use === 'all' || use === 'read') && !isAdded)
    const heads = chain.nodes.flatMap(({ head }) => (head && valueOf(head)) ?? [])
    const nodes = explainNodes(chain, heads)
    const of = { where: { kind: 'chain', id: chain.chain } as const, asOf: asOfNodes(chain, at), values: { chain: chain.chain } }
    const holds = (transfer: TransferFacts) => goesOn(transfer) && needsChain(transfer, chain.chain)
    // One row for the chain says what those of its nodes would.
    if (heads.length === 0) return [{ row: 'CHAIN_UNREACHABLE', ...of, holds, what: unreachable(chain) }]
    const told = readers.filter(({ head }) => head && valueOf(head)).length
    const lacks = told * 2 <= readers.length
    const majority: Finding[] = lacks
      ? [
          {
            row: 'CHAIN_WITHOUT_MAJORITY',
            ...of,
            holds,
            what: `${told} of the ${readers.length} nodes of ${chain.chain} in the config answer: no majority.`,
          },
        ]
      : []
    return [...majority, ...standingOf(chain, heads, at).map((finding) => ({ ...of, holds, ...finding })), ...nodes]
  })
}

/** All that goes to it; and of what comes from it those that say that they wait for a node. */
function needsChain({ targetChain, sourceChain, code }: TransferFacts, chain: string): boolean {
  return targetChain === chain || (sourceChain === chain && (code === 'NODE_UNAVAILABLE' || code === 'NODES_DISAGREE'))
}

function unreachable({ chain, nodes }: ChainFacts): string {
  const enabled = nodes.filter(({ isDisabled }) => !isDisabled)
  if (enabled.length === 0) return `All nodes of ${chain} are disabled.`
  const why = errorOf(enabled[0]?.head)?.about ?? ''
  return enabled.length === 1
    ? `The only node of ${chain} does not answer: ${why}`
    : `None of the ${enabled.length} nodes of ${chain} answers: ${why}`
}

function standingOf(
  { chain, blockTimeMs, finalAt, finalityStalledMs = usualFinalityStalledMs }: ChainFacts,
  heads: readonly NodeHead[],
  at: number,
): Pick<Finding, 'row' | 'what' | 'since'>[] {
  const newest = heads.reduce((best, head) => (head.height > best.height ? head : best))
  if (at - newest.at > Math.max(standing.leastMs, standing.blocks * blockTimeMs))
    return [
      {
        row: 'CHAIN_STALLED',
        since: newest.at,
        what: `The newest block of ${chain} that a node shows is ${newest.height}, of ${ageText(at - newest.at)} ago.`,
      },
    ]
  if (finalAt !== undefined && newest.at - finalAt > finalityStalledMs)
    return [
      {
        row: 'FINALITY_STALLED',
        since: finalAt,
        what: `The newest final block of ${chain} is ${newest.finalized}, of ${ageText(at - finalAt)} ago; the head is ${newest.height}.`,
      },
    ]
  return []
}

function explainNodes({ chain, nodes }: ChainFacts, heads: readonly NodeHead[]): Finding[] {
  const heights = heads.map(({ height }) => height).sort((a, b) => b - a)
  // Of two the higher one, since the other is more likely to be syncing than it to lie.
  const reached = heights[heights.length === 2 ? 0 : Math.floor(heights.length / 2)] ?? 0
  return nodes.flatMap((node): Finding[] => {
    const { node: name, head } = node
    const of = { where: { kind: 'node', id: `${chain}/${name}` } as const, asOf: head?.asOf ?? 0, values: { chain, node: name } }
    const error = errorOf(head)
    if (error?.code === 'CHAIN_ID_MISMATCH')
      return [{ row: 'NODE_WRONG_NETWORK', ...of, what: error.message.split(' →')[0] ?? error.title }]
    if (error) return [{ row: 'NODE_DOWN', ...of, what: `The node ${name} of ${chain} does not answer: ${error.about}` }]
    return lagging(node, reached).map((finding) => ({ ...of, ...finding }))
  })
}

function lagging({ node, head }: NodeFacts, reached: number): Pick<Finding, 'row' | 'what'>[] {
  const height = head && valueOf(head)?.height
  if (height === undefined || (height <= reached ? reached - height <= mostLag : height - reached <= mostAhead)) return []
  const side = height < reached ? 'behind' : 'above'
  return [{ row: 'NODE_LAGS', what: `The node ${node} is at block ${height}, ${Math.abs(height - reached)} blocks ${side} the others.` }]
}

function asOfNodes({ nodes }: ChainFacts, at: number): number {
  return Math.max(...nodes.map(({ head }) => head?.asOf ?? 0)) || at
}
