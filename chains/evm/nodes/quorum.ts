import { RelayerError } from '../../../domain/errors.ts'
import type { EvmHeads } from '../heads/heads.ts'
import { RpcError } from './node-errors.ts'
import type { NodeAnswer, Nodes } from './nodes.ts'

/** One node alone: equal answers count together within so many blocks. Older ones tell of another time. */
const memoryBlocks = 16
/** One node alone: how many blocks in a row it may change its mind. */
const mostLooks = 3
/** One node alone, and no block comes: the least time between two looks, ms. */
const leastWaitMs = 1_000

export interface QuorumOptions {
  readonly chain: string
  readonly nodes: Nodes
  readonly heads: EvmHeads
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

type Vote<T> = { readonly key: string; readonly value: T } | { readonly key: string; readonly revert: RpcError }

export function createQuorum({ chain, nodes, heads, blockTimeMs }: QuorumOptions): Quorum {
  /** What one node alone said last, by question, and at which height. */
  const earlier = new Map<string, { readonly key: string; readonly height: number }>()
  let tidiedAt = 0

  function vote<T>(answer: NodeAnswer, { read, key = JSON.stringify }: Question<T>): Vote<T> | undefined {
    if (!answer.ok) {
      const { error } = answer
      return error instanceof RpcError && /revert/i.test(error.rpcMessage)
        ? { key: `revert ${JSON.stringify(error.data)}`, revert: error }
        : undefined
    }
    try {
      const value = read(answer.result)
      return { key: `value ${key(value)}`, value }
    } catch {
      return undefined
    }
  }

  /** One round: what a majority of `needed` said, and else what anybody said. */
  async function look<T>(question: Question<T>, needed: number): Promise<{ agreed?: Vote<T>; answers: readonly NodeAnswer[] }> {
    const votes = new Map<string, number>()
    let agreed: Vote<T> | undefined
    const answers = await nodes.askAll(question.method, question.params(), (answer) => {
      const cast = vote(answer, question)
      if (!cast) return false
      const count = (votes.get(cast.key) ?? 0) + 1
      votes.set(cast.key, count)
      if (count >= needed) agreed ??= cast
      return agreed !== undefined
    })
    return { ...(agreed && { agreed }), answers }
  }

  async function agreeWithItself<T>(question: Question<T>): Promise<Vote<T> | undefined> {
    for (let looks = 0; looks < mostLooks; looks++) {
      const before = recall(question.about)
      if (before) await nextBlock(before.height)
      const at = heads.current?.latest.height ?? 0
      const { agreed, answers } = await look(question, 1)
      if (!agreed) throw disagreement(answers)
      earlier.set(question.about, { key: agreed.key, height: at })
      if (before?.key === agreed.key) {
        earlier.delete(question.about)
        return agreed
      }
    }
    return undefined
  }

  function recall(about: string): { key: string; height: number } | undefined {
    const latest = heads.current?.latest.height ?? 0
    // Once per block, however many ask: thousands may in one tick.
    if (latest !== tidiedAt) for (const [one, { height }] of earlier) if (height < latest - memoryBlocks) earlier.delete(one)
    tidiedAt = latest
    return earlier.get(about)
  }

  /** Waits for a head above this height, or as long as four should take: a chain that stands still changes its mind as little. */
  function nextBlock(height: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        end()
        resolve()
      }
      const timer = setTimeout(done, Math.max(leastWaitMs, 4 * blockTimeMs)).unref()
      const end = heads.subscribe((event) => event.latest.height > height && done())
      if ((heads.current?.latest.height ?? 0) > height) done()
    })
  }

  function disagreement(answers: readonly NodeAnswer[]): RelayerError {
    const silent = answers.flatMap((answer) => (answer.ok ? [] : [answer.error.message]))
    const detail = [...new Set(silent)].join('; ')
    const heard = answers.length - silent.length
    const facts = { chain, nodes: nodes.readers, answered: heard }
    return new RelayerError(heard === 0 ? 'NODE_UNAVAILABLE' : 'NODES_DISAGREE', { ...(detail && { detail }), facts })
  }

  return {
    async agree(question) {
      if (nodes.readers === 1) {
        const agreed = await agreeWithItself(question)
        if (agreed) return outcome(agreed)
        throw new RelayerError('NODES_DISAGREE', { detail: 'The only node did not say the same in two blocks.', facts: { chain } })
      }
      const { agreed, answers } = await look(question, Math.floor(nodes.readers / 2) + 1)
      if (agreed) return outcome(agreed)
      throw disagreement(answers)
    },
  }
}

function outcome<T>(vote: Vote<T>): T {
  if ('revert' in vote) throw vote.revert
  return vote.value
}
