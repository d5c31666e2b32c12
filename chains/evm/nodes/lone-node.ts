import { untilHead } from '../../port.ts'
import type { EvmHeads } from '../heads/heads.ts'
import type { AskRound, Question, Round } from './rounds.ts'

/** Equal answers count together within so many blocks: older ones tell of another time. */
const memoryBlocks = 16
/** How many blocks in a row the node may change its mind. */
const mostLooks = 3
/** The least time between two looks where no block comes, ms. */
const leastWaitMs = 1_000

export interface LoneNodeOptions {
  readonly round: AskRound
  readonly heads: Pick<EvmHeads, 'current' | 'subscribe'>
  readonly blockTimeMs: number
}

/** The quorum of a chain with one node: two equal answers a block apart. Without `agreed`: it gave no answer, or another one each time. */
export function createLoneNode({ round, heads, blockTimeMs }: LoneNodeOptions): <T>(question: Question<T>) => Promise<Round<T>> {
  /** What the node said last, by question, and at which height. */
  const earlier = new Map<string, { readonly key: string; readonly height: number }>()
  let tidiedAt = 0
  const height = () => heads.current?.latest.height ?? 0

  /** Once per block, however many ask: thousands may in one tick. */
  function tidy(): void {
    if (height() === tidiedAt) return
    tidiedAt = height()
    for (const [about, one] of earlier) if (one.height < tidiedAt - memoryBlocks) earlier.delete(about)
  }

  /** Waits for a head above this height, or as long as four should take: a chain that stands still changes its mind as little. */
  const nextBlock = (above: number) => untilHead(heads, ({ latest }) => latest.height > above, Math.max(leastWaitMs, 4 * blockTimeMs))

  return async function agreeWithItself(question) {
    const { about } = question
    for (let looks = 1; ; looks++) {
      tidy()
      const before = earlier.get(about)
      if (before) await nextBlock(before.height)
      const at = height()
      const { agreed, answers } = await round(question, 1)
      if (!agreed) return { answers }
      if (before?.key === agreed.key) {
        earlier.delete(about)
        return { agreed, answers }
      }
      earlier.set(about, { key: agreed.key, height: at })
      if (looks === mostLooks) return { answers }
    }
  }
}
