import { comparedHeight, lagOf, mostLag, votersOf } from '../../chains/heads.ts'
import { ageText } from '../../domain/text/age.ts'
import { type ChainFacts, errorOf, type Facts, headsOf, majorityHead, type TransferFacts, valueOf } from './facts.ts'
import { type Finding, goesOn } from './finding.ts'

/** A chain is stalled if its head is older than `blocks` block times and older than `leastMs`. */
export const stalledAfter = { blocks: 20, leastMs: 30_000 } as const
/** Limit (ms) unless the config sets a different one. */
const usualFinalityStalledMs = 3_600_000

export function explainChains({ at, chains }: Pick<Facts, 'at' | 'chains'>): Finding[] {
  return chains.flatMap((chain): Finding[] => {
    const { chain: name, nodes } = chain
    const heads = headsOf(nodes)
    const asOf = Math.max(...nodes.map(({ head }) => head?.asOf ?? 0)) || at
    const holds = (transfer: TransferFacts) => goesOn(transfer) && needsChain(transfer, name)
    const voters = votersOf(nodes)
    const back = voters.find(({ isBack }) => isBack)?.node
    const of = { where: { kind: 'chain', id: name } as const, asOf, values: { chain: name, ...(back && { node: back }) }, holds }
    const useless = back === undefined ? ['portage node enable'] : []
    if (heads.length === 0) return [{ row: 'CHAIN_UNREACHABLE', ...of, ...unreachable(chain), useless }]
    const answering = voters.filter(({ head }) => valueOf(head)).length
    const what = `${answering} of the ${voters.length} nodes of ${name} in the config answer: no majority.`
    return [
      ...(2 * answering > voters.length ? [] : [{ row: 'CHAIN_WITHOUT_MAJORITY' as const, ...of, what, useless }]),
      ...explainStall(chain, at).map((finding) => ({ ...of, ...finding })),
      ...explainNodes(chain, asOf),
    ]
  })
}

/** A transfer always needs its target chain, but its source chain only if its error code is about nodes. */
function needsChain({ targetChain, sourceChain, code }: TransferFacts, chain: string): boolean {
  return targetChain === chain || (sourceChain === chain && (code === 'NODE_UNAVAILABLE' || code === 'NODES_DISAGREE'))
}

function unreachable({ chain, nodes }: ChainFacts): Pick<Finding, 'what' | 'code'> {
  const enabled = nodes.filter(({ isDisabled }) => !isDisabled)
  if (enabled.length === 0) return { what: `All nodes of ${chain} are disabled.` }
  const errors = enabled.flatMap(({ head }) => errorOf(head) ?? [])
  const why = errors[0]?.about ?? ''
  if (errors.length === enabled.length && errors.every(({ code }) => code === 'CHAIN_ID_MISMATCH'))
    return { code: 'CHAIN_ID_MISMATCH', what: `Every node of ${chain} serves another network than the config says: ${why}` }
  if (enabled.length === 1) return { what: `The only node of ${chain} gives no usable answer: ${why}` }
  return { what: `None of the ${enabled.length} nodes of ${chain} gives a usable answer: ${why}` }
}

function explainStall(facts: ChainFacts, at: number): Pick<Finding, 'row' | 'what' | 'since'>[] {
  const head = majorityHead(facts)
  if (!head) return []
  const { chain, blockTimeMs, finalityStalledMs = usualFinalityStalledMs } = facts
  const { height, at: headAt, finalized, finalAt } = head
  if (at - headAt > Math.max(stalledAfter.leastMs, stalledAfter.blocks * blockTimeMs)) {
    const what = `The newest block of ${chain} that most nodes show is ${height}, of ${ageText(at - headAt)} ago.`
    return [{ row: 'CHAIN_STALLED', since: headAt, what }]
  }
  if (finalAt === undefined || headAt - finalAt <= finalityStalledMs) return []
  const what = `The newest final block of ${chain} is ${finalized}, of ${ageText(at - finalAt)} ago; the head is ${height}.`
  return [{ row: 'FINALITY_STALLED', since: finalAt, what }]
}

function explainNodes({ chain, nodes }: ChainFacts, asOf: number): Finding[] {
  const voters = votersOf(nodes)
  const heights = voters.map(({ head }) => valueOf(head)?.height)
  const reached = comparedHeight(heights, voters.length)
  // Unless a majority answers, disabling a node does not help: disabled nodes count as nodes that do not answer.
  const hasMajority = 2 * heights.filter((height) => height !== undefined).length > voters.length
  return nodes.flatMap(({ node, head, added, isBack }): Finding[] => {
    const useless = [...(added || !hasMajority ? ['portage node disable'] : []), ...(added ? [] : ['portage node remove'])]
    const of = { where: { kind: 'node', id: `${chain}/${node}` } as const, asOf: head?.asOf ?? asOf, values: { chain, node }, useless }
    const error = errorOf(head)
    if (isBack) return !hasMajority ? [] : [{ row: 'NODE_DISABLED', ...of, what: `The node ${node} of ${chain} is disabled, and answers.` }]
    if (error?.code === 'CHAIN_ID_MISMATCH') return [{ row: 'NODE_WRONG_NETWORK', ...of, what: `${error.title} ${error.about}` }]
    const name = `The node ${node} of ${chain}${added ? ', which an operator added,' : ''}`
    if (error) return [{ row: 'NODE_DOWN', ...of, what: `${name} gives no usable answer: ${error.about}` }]
    const height = valueOf(head)?.height
    const lag = lagOf(height, reached)
    if (height === undefined || reached === undefined || lag === undefined || lag <= mostLag) return []
    const what = `${name} is at block ${height}, ${lag} blocks ${height < reached ? 'behind' : 'above'} the others.`
    return [{ row: 'NODE_LAGS', ...of, what }]
  })
}
