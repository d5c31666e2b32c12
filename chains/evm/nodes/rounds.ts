import { RpcError } from './node-errors.ts'
import type { NodeAnswer, Nodes } from './nodes.ts'

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

/** What a node's answer counts for. A revert is an answer like any other. */
export type Vote<T> = { readonly key: string; readonly value: T } | { readonly key: string; readonly revert: RpcError }

/** `agreed`: what as many nodes as were needed said alike. */
export interface Round<T> {
  readonly agreed?: Vote<T>
  readonly answers: readonly NodeAnswer[]
}

export type AskRound = <T>(question: Question<T>, needed: number) => Promise<Round<T>>

/** Asks all nodes that read at once, until enough of them say the same. */
export function createAskRound(nodes: Nodes): AskRound {
  return async <T>(question: Question<T>, needed: number) => {
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
