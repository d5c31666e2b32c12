import { RelayerError } from '../domain/catalogue/errors.ts'
import { keptReads } from '../runtime/shared-read.ts'
import { within } from '../runtime/wait.ts'
import type { HeadEvent, Heads, NodeStatus } from './port.ts'

/** Resolves to true once `done` accepts a head, which may be the current one, and to false after `mostMs`. */
export async function untilHead(
  heads: Pick<Heads, 'current' | 'subscribe'>,
  done: (head: HeadEvent) => boolean,
  mostMs: number,
): Promise<boolean> {
  if (heads.current && done(heads.current)) return true
  let unsubscribe = () => {}
  const found = new Promise<boolean>((resolve) => (unsubscribe = heads.subscribe((head) => done(head) && resolve(true))))
  return within(mostMs, found, () => false).finally(unsubscribe)
}

export interface HeadSource {
  readonly name: string
  readonly heads: Pick<Heads, 'current'>
}

/** Throws NODE_UNAVAILABLE before the first block. */
export function currentHead({ name, heads }: HeadSource): HeadEvent {
  if (heads.current) return heads.current
  throw new RelayerError('NODE_UNAVAILABLE', { detail: 'No block has been read yet.', facts: { chain: name } })
}

/** Seconds since the epoch. Throws NODE_UNAVAILABLE until most nodes have shown a head. */
export function chainTime(chain: HeadSource): number {
  const { time } = currentHead(chain)
  if (time !== undefined) return time
  throw new RelayerError('NODE_UNAVAILABLE', { detail: 'Too few nodes have shown a head.', facts: { chain: chain.name } })
}

/** Caches answers, but not failures, until `versionOf` returns a new value. Throws the errors of `currentHead`. */
export function oncePerHead<T>(
  chain: HeadSource,
  ask: (key: string) => Promise<T>,
  versionOf: (event: HeadEvent) => unknown = ({ latest }) => latest.hash,
) {
  let version: unknown
  const answers = keptReads(ask)
  return async (key = ''): Promise<T> => {
    const now = versionOf(currentHead(chain))
    if (now !== version) answers.clear()
    version = now
    return answers.get(key)
  }
}

/** The nodes that count in majorities, including disabled nodes. */
export function votersOf<Node extends Pick<NodeStatus, 'use' | 'added'>>(nodes: readonly Node[]): readonly Node[] {
  return nodes.filter(({ use, added }) => (use === 'all' || use === 'read') && !added)
}

/** Maximum lag in blocks. Nodes further behind the majority's head are asked last (chainlink-evm SyncThreshold). */
export const mostLag = 5

/** A head that is more than this number of blocks above the known head counts only if most nodes have reached it. */
export const longestGap = 1_024

const mostAhead = 64

/** The highest height that more than half of the nodes have reached or, if there is none, the lowest known height. */
export function majorityHeight(heights: readonly (number | undefined)[], nodes: number): number | undefined {
  const known = heights.filter((height) => height !== undefined).sort((a, b) => b - a)
  return known[Math.min(Math.floor(nodes / 2), known.length - 1)]
}

/**
 * The majority's height. With two nodes, the height of the higher head, unless this head is more than `longestGap`
 * above `own`.
 */
export function comparedHeight(heights: readonly (number | undefined)[], nodes: number, own?: number): number | undefined {
  const known = heights.filter((height) => height !== undefined)
  const highest = Math.max(...known)
  const isPlausible = own === undefined || highest <= own + longestGap
  return nodes === 2 && known.length === 2 && isPlausible ? highest : majorityHeight(heights, nodes)
}

/** The lower median. One lying node out of three cannot choose it. */
export function medianOf<T extends number | bigint>(values: readonly T[]): T | undefined {
  return values.toSorted((a, b) => (a < b ? -1 : 1))[Math.floor((values.length - 1) / 2)]
}

/**
 * Blocks between a head and `reached`. 0 if the head is at most `mostAhead` higher. A head that is even higher must be
 * false, so its whole distance counts.
 */
export function lagOf(height: number | undefined, reached: number | undefined): number | undefined {
  if (height === undefined || reached === undefined) return undefined
  if (height <= reached) return reached - height
  return height - reached > mostAhead ? height - reached : 0
}
