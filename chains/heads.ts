import { RelayerError } from '../domain/catalogue/errors.ts'
import { remember } from '../runtime/remember.ts'
import type { HeadEvent, Heads, NodeStatus } from './port.ts'

/** Resolves true with the first head of which `done` is true, the current one included, and false if none comes within `mostMs`. */
export function untilHead(
  heads: Pick<Heads, 'current' | 'subscribe'>,
  done: (head: HeadEvent) => boolean,
  mostMs: number,
): Promise<boolean> {
  if (heads.current && done(heads.current)) return Promise.resolve(true)
  return new Promise((resolve) => {
    const finish = (came: boolean) => {
      clearTimeout(timer)
      unsubscribe()
      resolve(came)
    }
    const timer = setTimeout(() => finish(false), mostMs).unref()
    const unsubscribe = heads.subscribe((head) => done(head) && finish(true))
  })
}

/** The part of a chain that knows its head. */
export interface HeadSource {
  readonly name: string
  readonly heads: Pick<Heads, 'current'>
}

/** The last head event. Throws NODE_UNAVAILABLE before the first block. */
export function currentHead({ name, heads }: HeadSource): HeadEvent {
  if (heads.current) return heads.current
  throw new RelayerError('NODE_UNAVAILABLE', { detail: 'No block was read yet.', facts: { chain: name } })
}

/** One answer per key as long as `versionOf` gives the same; absent: per head. One that failed is asked for again. Throws as `currentHead`. */
export function oncePerHead<T>(
  chain: HeadSource,
  ask: (key: string) => Promise<T>,
  versionOf: (event: HeadEvent) => unknown = ({ latest }) => latest.hash,
) {
  let version: unknown
  const answers = remember(ask)
  return async (key = ''): Promise<T> => {
    const now = versionOf(currentHead(chain))
    if (now !== version) answers.clear()
    version = now
    return answers.get(key)
  }
}

/** Those that a majority is counted of: the nodes of the config that read. One that is disabled is silent, and counted: only the config takes it out. */
export function votersOf(nodes: readonly NodeStatus[]): readonly NodeStatus[] {
  return nodes.filter(({ use, added }) => (use === 'all' || use === 'read') && !added)
}
