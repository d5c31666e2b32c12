import type { Logger } from '../../../observability/logger.ts'

/** Polls in a row in which most nodes show headers whose hashes do not fit: the chain has got another kind of header, with a fork that we do not know. */
const mostOddPolls = 10

/** A block of which is known whether its hash is that of its header. */
interface HashedBlock {
  readonly hash: string
  readonly fits: boolean
}

export type HeaderCheck = ReturnType<typeof createHeaderCheck>

/**
 * Whether this chain's headers are hashed as Ethereum's. Some are not (Arbitrum, zkSync, Celo, Avalanche): a block that more than half of the nodes agree
 * on decides, when the process starts. Where they are, a header that was altered is refused, whoever shows it. @param needed more than half of the nodes
 */
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
    /** Takes the heads that the nodes show in one poll; returns those that are to be believed. */
    ofPoll<Block extends HashedBlock>(blocks: readonly Block[]): readonly Block[] {
      if (kind === 'undecided') decide(blocks)
      if (kind !== 'checked') return blocks
      oddPolls = blocks.filter(({ fits }) => !fits).length >= needed() ? oddPolls + 1 : 0
      if (oddPolls >= mostOddPolls) {
        kind = 'unchecked'
        log?.warn('most nodes show block headers whose hashes do not fit: they are no longer checked', {
          code: 'HEADERS_UNCHECKED',
          ...{ chain, headerHash: kind },
        })
        return blocks
      }
      return blocks.filter(({ fits }) => fits)
    },
  }
}
