import { RelayerError } from '../../../domain/errors.ts'
import type { EvmHeads } from '../heads/heads.ts'
import { createLoneNode } from './lone-node.ts'
import { RpcError } from './node-errors.ts'
import type { NodeAnswer, Nodes } from './nodes.ts'

export interface QuorumOptions {
  readonly chain: string
  readonly nodes: Nodes
  readonly heads: Pick<EvmHeads, 'current' | 'subscribe'>
  readonly blockTimeMs: number
}

/** What is asked of all nodes, for verdicts that can't be taken back. */
export interface Question<T> {
  /** What is asked, without the block that it is asked of: looks at different blocks are compared under this. */
  readonly about: string
  readonly method: string
  /** Made anew for each look: a block tag may have moved on. */
  readonly params: () => readonly unknown[]
  /** Reads an answer. What it throws counts as silence. */
  readonly read: (result: unknown) => T
  /** Equal texts are equal answers; absent: as JSON. */
  readonly key?: ((value: T) => string) | undefined
}

export interface Quorum {
  /**
   * The answer that more than half of the nodes which read give: of the configured ones that are not disabled; those that do not answer are silent,
   * not agreeing. With one node: two equal answers a block apart, or 4 block times where no block comes; it waits for that. A revert is an
   * answer too, and thrown as the RpcError it is. Throws NODES_DISAGREE, NODE_UNAVAILABLE (nobody answered).
   */
  agree<T>(question: Question<T>): Promise<T>
}

/** What a node's answer counts for. A revert is an answer like any other. */
export type Vote<T> = { readonly key: string; readonly value: T } | { readonly key: string; readonly revert: RpcError }

/** `agreed`: what as many nodes as were needed said alike. */
export interface Round<T> {
  readonly agreed?: Vote<T>
  readonly answers: readonly NodeAnswer[]
}

export type AskRound = <T>(question: Question<T>, needed: number) => Promise<Round<T>>

export function createQuorum({ chain, nodes, heads, blockTimeMs }: QuorumOptions): Quorum {
  const round: AskRound = async <T>(question: Question<T>, needed: number) => {
    const votes = new Map<string, number>()
    let agreed: Vote<T> | undefined
    const answers = await nodes.askAll(question.method, question.params(), (answer) => {
      const vote = voteOf(answer, question)
      if (!vote) return false
      const count = (votes.get(vote.key) ?? 0) + 1
      votes.set(vote.key, count)
      if (count >= needed) agreed ??= vote
      return agreed !== undefined
    })
    return { ...(agreed && { agreed }), answers }
  }
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

function voteOf<T>(answer: NodeAnswer, { read, key = JSON.stringify }: Question<T>): Vote<T> | undefined {
  if (!answer.ok) {
    const { error } = answer
    const isRevert = error instanceof RpcError && /revert/i.test(error.rpcMessage)
    return isRevert ? { key: `revert ${JSON.stringify(error.data)}`, revert: error } : undefined
  }
  try {
    const value = read(answer.result)
    return { key: `value ${key(value)}`, value }
  } catch {
    return undefined
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
