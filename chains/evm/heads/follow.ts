import { longestGap, majorityHeight } from '../../heads.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { BlockCache } from './block-cache.ts'
import { type EvmBlock, fetchBlock, fetchBlockOfAll } from './blocks.ts'
import type { HeaderCheck } from './header-check.ts'
import type { BlockRef } from '../../port.ts'

/**
 * Number of polls that must show a lower head before it is accepted. If the lower head is on the cached branch, more
 * polls are needed (`pollsOfRetreat`), because the nodes may only lag.
 */
const pollsOfFork = 3
const pollsOfRetreat = 10
const batchSize = 50
const firstStep = 4

export interface Step {
  readonly applied: readonly EvmBlock[]
  readonly rolledBack: readonly EvmBlock[]
  readonly replaced: boolean
  /** True if blocks were skipped, or if the rollback goes further back than the cached blocks. */
  readonly broken: boolean
}

export const nothingNew: Step = { applied: [], rolledBack: [], replaced: false, broken: false }

/** Makes the cached blocks end with a new head. A doubtful head changes nothing. */
export function createFollow(nodes: Nodes, kept: BlockCache, check: HeaderCheck, finalized: () => number, onLate: () => void) {
  let lowerPolls = 0
  let brokenPolls = 0

  async function isRetreat(target: EvmBlock, head: EvmBlock): Promise<boolean> {
    lowerPolls++
    onLate()
    const isFork = kept.at(target.height)?.hash !== target.hash
    if (lowerPolls < (isFork ? pollsOfFork : pollsOfRetreat)) return false
    const shown = await fetchBlockOfAll(nodes, head.height)
    return shown.filter((block) => block?.hash !== head.hash).length * 2 > nodes.readers
  }

  async function isFinalityBroken(): Promise<boolean> {
    const final = kept.at(finalized())
    if (!final) return true
    const others = (await fetchBlockOfAll(nodes, final.height)).filter((block) => block?.hash !== final.hash)
    brokenPolls = others.length * 2 > nodes.readers ? brokenPolls + 1 : 0
    if (brokenPolls < pollsOfFork) return false
    brokenPolls = 0
    return true
  }

  return async function follow(target: EvmBlock, isSupported: boolean, signal: AbortSignal): Promise<Step> {
    const head = kept.latest
    if (!head || target.height >= head.height) lowerPolls = 0
    else if (!(await isRetreat(target, head))) return nothingNew
    if (head?.hash === target.hash) return nothingNew
    // A distant head needs the support of most nodes. The first head does not, because most nodes may be down at the
    // start.
    if (head && !isSupported && target.height - head.height > longestGap) return nothingNew
    const path = await findPath(nodes, kept, target, check)
    if (!path || signal.aborted) return nothingNew
    const { ancestor, forked, blocks } = path
    if (forked && (ancestor ?? -1) < finalized() && !(await isFinalityBroken())) return nothingNew
    const rolledBack = ancestor !== undefined || forked ? kept.rollBackTo(ancestor ?? -1) : []
    kept.append(blocks)
    const replaced = (rolledBack.at(-1)?.height ?? Infinity) <= finalized()
    return { applied: blocks, rolledBack, replaced, broken: ancestor === undefined && head !== undefined }
  }
}

interface Path {
  readonly blocks: readonly EvmBlock[]
  readonly ancestor: number | undefined
  readonly forked: boolean
}

async function findPath(nodes: Nodes, kept: BlockCache, target: EvmBlock, check: HeaderCheck): Promise<Path | undefined> {
  const head = kept.latest
  if (!head || target.height - head.height > longestGap) return { blocks: [target], ancestor: undefined, forked: false }
  let blocks: EvmBlock[] = [target]
  let step = firstStep
  for (;;) {
    const joined = join(kept, blocks)
    if (joined) return joined
    const lowest = blocks[0] as EvmBlock
    const gap = lowest.height - 1 - head.height
    const size = gap > 0 ? Math.min(gap, batchSize) : Math.min(step, batchSize, lowest.height)
    if (gap <= 0) step *= 4
    const heights = Array.from({ length: size }, (_, index) => lowest.height - size + index)
    const found = await Promise.all(heights.map((height) => fetchBlock(nodes, height, check)))
    const read =
      found.every((block) => block !== undefined) && linked([...found, lowest]) ? found : await readLinked(nodes, heights, lowest, check)
    if (!read) return undefined
    blocks = [...read, ...blocks]
  }
}

async function readLinked(nodes: Nodes, heights: readonly number[], lowest: EvmBlock, check: HeaderCheck) {
  if (nodes.readers < 2) return undefined
  const shown = await Promise.all(heights.map((height) => fetchBlockOfAll(nodes, height)))
  const blocks: EvmBlock[] = []
  let child = lowest
  for (const candidates of shown.toReversed()) {
    const known = candidates.filter((block) => block !== undefined).filter((block) => check.accepts(block))
    const parents = known.filter((block) => block.hash === child.parentHash && block.height === child.height - 1)
    const [parent] = parents.sort((a, b) => sameContent(b, known) - sameContent(a, known))
    if (!parent) return undefined
    blocks.unshift(parent)
    child = parent
  }
  return blocks
}

function join(kept: BlockCache, blocks: readonly EvmBlock[]): Path | undefined {
  const known = blocks.findLastIndex((block) => kept.at(block.height)?.hash === block.hash)
  if (known >= 0) return { blocks: blocks.slice(known + 1), ancestor: blocks[known]?.height, forked: true }
  const lowest = blocks[0] as EvmBlock
  const parent = kept.at(lowest.height - 1)
  if (parent?.hash === lowest.parentHash) return { blocks, ancestor: parent.height, forked: false }
  if (lowest.height <= kept.lowest || lowest.height === 0) return { blocks, ancestor: undefined, forked: true }
  return undefined
}

function linked(blocks: readonly EvmBlock[]): boolean {
  return blocks.every((block, index) => {
    const parent = blocks[index - 1]
    return index === 0 || (block.parentHash === parent?.hash && block.height === parent.height + 1)
  })
}

const mostAbove = 256

export interface ShownHead {
  readonly node: string
  readonly block: EvmBlock
}

/**
 * Chooses the block with the most votes at the height of the majority. If votes tie, prefers a cached block or the
 * child of a cached block.
 */
export function chooseHead(shown: readonly ShownHead[], readers: number, kept: Pick<BlockCache, 'at'>): EvmBlock | undefined {
  const blocks = shown.map(({ block }) => block)
  const heights = blocks.map(({ height }) => height)
  const height = majorityHeight(heights, readers)
  const isOurs = (block: EvmBlock) => kept.at(block.height)?.hash === block.hash || kept.at(block.height - 1)?.hash === block.parentHash
  const rated = blocks
    .filter((block) => block.height === height)
    .map((block) => ({ block, votes: votesFor(block, blocks), ours: Number(isOurs(block)), same: sameContent(block, blocks) }))
  return rated.sort((a, b) => b.votes - a.votes || b.ours - a.ours || b.same - a.same)[0]?.block
}

function votesFor({ hash, height }: EvmBlock, blocks: readonly EvmBlock[]): number {
  return blocks.filter((other) => other.hash === hash || (other.height === height + 1 && other.parentHash === hash)).length
}

/**
 * Number of `blocks` with the hash and the content of `block`. Without header checks, a true hash may come with false
 * content.
 */
export function sameContent(block: EvmBlock, blocks: readonly EvmBlock[]): number {
  const content = contentOf(block)
  return blocks.filter((other) => other.hash === block.hash && contentOf(other) === content).length
}

function contentOf({ height, parentHash, timestamp, baseFee, gasLimit, transactions }: EvmBlock): string {
  return [height, parentHash, timestamp, baseFee, gasLimit, ...transactions].join()
}

/**
 * Records the highest cached block that each node has shown. Other blocks do not count, because a single node may
 * invent them.
 */
export function createShownHeads(nodes: Pick<Nodes, 'readers' | 'needed'>, kept: Pick<BlockCache, 'isCanonical' | 'latest'>) {
  const shared = new Map<string, number>()
  const above = new Map<string, readonly BlockRef[]>()
  let time: number | undefined

  function judge(node: string, block: BlockRef): void {
    if (kept.isCanonical(block)) shared.set(node, Math.max(shared.get(node) ?? 0, block.height))
  }

  return {
    note(shown: readonly ShownHead[]): void {
      // The maximum keeps the time from falling when a node misses a poll.
      if (shown.length >= nodes.needed) {
        const times = shown.map(({ block }) => block.timestamp)
        time = Math.max(time ?? 0, majorityHeight(times, nodes.readers) ?? 0)
      }
      const height = kept.latest?.height ?? -1
      for (const { node, block } of shown) {
        judge(node, block)
        judge(node, { height: block.height - 1, hash: block.parentHash })
        if (block.height > height) above.set(node, [...(above.get(node) ?? []), block].slice(-mostAbove))
      }
      for (const [node, blocks] of above) {
        for (const block of blocks) if (block.height <= height) judge(node, block)
        const stillAbove = blocks.filter((block) => block.height > height)
        above.set(node, stillAbove)
      }
    },
    get reached(): number | undefined {
      return shared.size * 2 > nodes.readers ? majorityHeight([...shared.values()], nodes.readers) : undefined
    },
    /** Seconds since the epoch. With a single node the time may fall, so that a wrong timestamp does not stay. */
    get time(): number | undefined {
      return nodes.readers === 1 ? kept.latest?.timestamp : time
    },
    rolledBackTo(height: number): void {
      for (const [node, highest] of shared) shared.set(node, Math.min(highest, height))
    },
    forgetTime(): void {
      time = undefined
    },
  }
}
