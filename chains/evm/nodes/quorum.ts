import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { untilHead } from '../../heads.ts'
import type { Heads } from '../../port.ts'
import { noAnswer, type NodeAnswer, type Nodes } from './nodes.ts'
import { MalformedAnswer, type ReadAnswer, RpcError } from './node-errors.ts'

const memoryBlocks = 16
const mostRounds = 3
/** Minimum time (ms) after which a chain's only node is asked again even if there is no new block. */
const leastWaitMs = 1_000

export interface Question<T> {
  /** Identifies the question, so that two answers of a chain's only node can be compared. */
  readonly about: string
  readonly method: string
  readonly params: () => readonly unknown[]
  /** Throws if the answer must not count as a vote. */
  readonly read: ReadAnswer<T>
  /** True: a chain's only node is asked once. */
  readonly once?: boolean
  /** True: throws NODE_REFUSED if most nodes refused, or if some refused and no other node gave a result. */
  readonly refusable?: boolean
  readonly key?: (value: T) => string
  /** An answer that is too long counts as a vote for this value. Absent: such an answer does not count as a vote. */
  readonly tooLong?: T
}

type Vote<T> = { readonly key: string; readonly value: T } | { readonly key: string; readonly revert: RpcError }

interface Round<T> {
  readonly agreed?: Vote<T> | undefined
  readonly answers: readonly NodeAnswer<T>[]
}

/**
 * Asks until most nodes agree. A chain's only node must give the same answer twice, a block apart. Throws an agreed
 * revert as RpcError, NODES_DISAGREE, and NODE_UNAVAILABLE if no node answers.
 */
export type Quorum = ReturnType<typeof createQuorum>

export function createQuorum(chain: string, nodes: Nodes, heads: Pick<Heads, 'current' | 'subscribe'>, blockTimeMs: number) {
  const askLoneNode = createAskLoneNode(nodes, heads, blockTimeMs)

  return async function agree<T>(question: Question<T>): Promise<T> {
    const { readers } = nodes
    const { agreed, answers } = await (readers === 1 && !question.once ? askLoneNode(question) : ask(nodes, question, nodes.needed))
    if (!agreed)
      throw question.refusable && isRefusal(answers, nodes.needed) ? noAnswer(chain, answers) : disagreement(chain, readers, answers)
    if ('revert' in agreed) throw agreed.revert
    return agreed.value
  }
}

function isRefusal(answers: readonly NodeAnswer<unknown>[], needed: number): boolean {
  return !answers.some(({ ok }) => ok) || answers.filter((answer) => !answer.ok && answer.error instanceof RpcError).length >= needed
}

function createAskLoneNode(nodes: Nodes, heads: Pick<Heads, 'current' | 'subscribe'>, blockTimeMs: number) {
  const earlier = new Map<string, { readonly key: string; readonly height: number }>()
  let tidiedAt = 0
  const height = () => heads.current?.latest.height ?? 0

  /** Drops old answers, but only once per block, because thousands of questions may be asked in one tick. */
  function tidy(): void {
    if (height() === tidiedAt) return
    tidiedAt = height()
    for (const [about, one] of earlier) if (one.height < tidiedAt - memoryBlocks) earlier.delete(about)
  }

  return async function askLoneNode<T>(question: Question<T>): Promise<Round<T>> {
    const { about } = question
    for (let rounds = 1; ; rounds++) {
      tidy()
      const before = earlier.get(about)
      // The wait is limited, because a chain may have no new block for a long time.
      if (before) await untilHead(heads, ({ latest }) => latest.height > before.height, Math.max(leastWaitMs, 4 * blockTimeMs))
      const at = height()
      const { agreed, answers } = await ask(nodes, question, 1)
      if (!agreed) return { answers }
      if (before?.key === agreed.key) {
        earlier.delete(about)
        return { agreed, answers }
      }
      earlier.set(about, { key: agreed.key, height: at })
      if (rounds === mostRounds) return { answers }
    }
  }
}

async function ask<T>(nodes: Nodes, question: Question<T>, needed: number): Promise<Round<T>> {
  const votes = new Map<string, number>()
  let agreed: Vote<T> | undefined
  const answers = await nodes.askAll(question.method, question.params(), question.read, (answer) => {
    const vote = voteOf(answer, question)
    if (!vote) return false
    const count = (votes.get(vote.key) ?? 0) + 1
    votes.set(vote.key, count)
    if (count >= needed) agreed ??= vote
    return agreed !== undefined
  })
  return { agreed, answers }
}

function voteOf<T>(answer: NodeAnswer<T>, { key = JSON.stringify, tooLong }: Question<T>): Vote<T> | undefined {
  if (!answer.ok) {
    const { error } = answer
    if (tooLong !== undefined && error instanceof MalformedAnswer && error.isTooLong)
      return { key: `value ${key(tooLong)}`, value: tooLong }
    const isRevert = error instanceof RpcError && /revert/i.test(error.rpcMessage)
    return isRevert ? { key: `revert ${JSON.stringify(error.data)}`, revert: error } : undefined
  }
  return { key: `value ${key(answer.result)}`, value: answer.result }
}

function disagreement(chain: string, nodes: number, answers: readonly NodeAnswer<unknown>[]): RelayerError {
  const silent = answers.flatMap((answer) => (answer.ok ? [] : [answer.error.message]))
  const answered = answers.length - silent.length
  const own = nodes === 1 && answered === 1 ? ['The only node gave different answers in two blocks.'] : []
  const detail = [...new Set([...own, ...silent])].join('; ')
  const facts = { chain, nodes, answered }
  return new RelayerError(answered === 0 ? 'NODE_UNAVAILABLE' : 'NODES_DISAGREE', { ...(detail && { detail }), facts })
}
