import { RelayerError } from '../../../domain/errors.ts'
import type { EvmHeads } from '../heads/heads.ts'
import { createLoneNode } from './lone-node.ts'
import type { NodeAnswer, Nodes } from './nodes.ts'
import { createAskRound, type Question } from './rounds.ts'

export interface QuorumOptions {
  readonly chain: string
  readonly nodes: Nodes
  readonly heads: Pick<EvmHeads, 'current' | 'subscribe'>
  readonly blockTimeMs: number
}

export interface Quorum {
  /**
   * The answer of more than half of the nodes that read, counted of all that are configured and not disabled: no answer is no agreement. With one node: two equal answers a block apart, or 4 block times where no block comes; it waits for that. A revert is an
   * answer too, and thrown as the RpcError it is. Throws NODES_DISAGREE, NODE_UNAVAILABLE (no node answered).
   */
  agree<T>(question: Question<T>): Promise<T>
}

export function createQuorum({ chain, nodes, heads, blockTimeMs }: QuorumOptions): Quorum {
  const round = createAskRound(nodes)
  const loneNode = createLoneNode({ round, heads, blockTimeMs })

  return {
    async agree(question) {
      const isAlone = nodes.readers === 1
      const { agreed, answers } = await (isAlone ? loneNode(question) : round(question, Math.floor(nodes.readers / 2) + 1))
      if (!agreed) throw disagreement(chain, isAlone ? 1 : nodes.readers, answers)
      if ('revert' in agreed) throw agreed.revert
      return agreed.value
    },
  }
}

function disagreement(chain: string, nodes: number, answers: readonly NodeAnswer[]): RelayerError {
  const silent = answers.flatMap((answer) => (answer.ok ? [] : [answer.error.message]))
  const heard = answers.length - silent.length
  const own = nodes === 1 && heard === 1 ? ['The only node did not give the same answer in two blocks.'] : []
  const detail = [...new Set([...own, ...silent])].join('; ')
  const facts = { chain, nodes, answered: heard }
  return new RelayerError(heard === 0 ? 'NODE_UNAVAILABLE' : 'NODES_DISAGREE', { ...(detail && { detail }), facts })
}
