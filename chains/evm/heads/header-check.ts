import type { Logger } from '../../../observability/logger.ts'

/**
 * Number of successive polls after which mismatching headers of most nodes mean that the format of headers has changed.
 */
const mostOddPolls = 10

interface HashedBlock {
  readonly hash: string
  readonly fits: boolean
}

export type HeaderCheck = ReturnType<typeof createHeaderCheck>

/** Refuses altered headers, on chains that hash as Ethereum does (not Arbitrum, zkSync, Celo, Avalanche). */
export function createHeaderCheck(chain: string, needed: () => number, log?: Pick<Logger, 'info' | 'warn'>) {
  let kind: 'undecided' | 'checked' | 'unchecked' = 'undecided'
  let oddPolls = 0

  function decide(blocks: readonly HashedBlock[]): void {
    const agreed = blocks.filter(({ hash }) => blocks.filter((other) => other.hash === hash).length >= needed())
    if (agreed.length === 0) return
    kind = agreed.some(({ fits }) => fits) ? 'checked' : 'unchecked'
    log?.info('hashes of block headers', { chain, headerHash: kind })
  }

  return {
    get kind() {
      return kind
    },
    accepts: ({ fits }: HashedBlock) => fits || kind !== 'checked',
    ofPoll<Block extends HashedBlock>(blocks: readonly Block[]): readonly Block[] {
      if (kind === 'undecided') decide(blocks)
      if (kind !== 'checked') return blocks
      oddPolls = blocks.filter(({ fits }) => !fits).length >= needed() ? oddPolls + 1 : 0
      if (oddPolls >= mostOddPolls) {
        kind = 'unchecked'
        log?.warn('most nodes show block headers with mismatching hashes; headers are no longer checked', {
          code: 'HEADERS_UNCHECKED',
          ...{ chain, headerHash: kind },
        })
        return blocks
      }
      return blocks.filter(({ fits }) => fits)
    },
  }
}
