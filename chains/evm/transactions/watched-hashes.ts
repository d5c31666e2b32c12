import type { BlockRef, Inclusion } from '../../port.ts'
import { isolate } from '../isolate.ts'

/** What is to be read of a watched hash. */
export type Due =
  /** Nothing: its receipt was read, or the blocks to come will show it. */
  | { readonly kind: 'nothing' }
  /** Its receipt is read by hash at each poll until a node answers. */
  | { readonly kind: 'lookup'; readonly unknown: number }
  /** `unknown`: so many times no node knew it, though it may be in a block from before our first. Looked up again at the next block. */
  | { readonly kind: 'unknown'; readonly unknown: number }
  /** A cached block lists it, and its receipt was not read yet; `misses`: so many times a node did not have it. */
  | { readonly kind: 'listed'; readonly block: BlockRef; readonly misses: number }

/** One hash with all its watches. */
export interface WatchedHash {
  readonly hash: string
  readonly watches: Set<WatchState>
  due: Due
  /** It is being read, so that nothing is asked for twice at once. */
  busy: boolean
}

/** One watch: some hashes of one nonce. */
export interface WatchState {
  readonly hashes: Set<string>
  readonly listeners: Set<(inclusion: Inclusion) => void>
  inclusion: Inclusion
}

export const nothing: Due = { kind: 'nothing' }
export const unseen: Inclusion = { kind: 'unseen' }

export type WatchedHashes = ReturnType<typeof createWatchedHashes>

/** All watches of a chain by hash. No I/O. */
export function createWatchedHashes() {
  const all = new Set<WatchState>()
  const byHash = new Map<string, WatchedHash>()
  return {
    all: all as ReadonlySet<WatchState>,
    byHash: byHash as ReadonlyMap<string, WatchedHash>,
    open() {
      const watch: WatchState = { hashes: new Set(), listeners: new Set(), inclusion: unseen }
      all.add(watch)
      return watch
    },
    add(watch: WatchState, hash: string) {
      watch.hashes.add(hash)
      const known: WatchedHash = byHash.get(hash) ?? { hash, watches: new Set(), due: nothing, busy: false }
      known.watches.add(watch)
      byHash.set(hash, known)
      return known
    },
    close(watch: WatchState) {
      all.delete(watch)
      watch.listeners.clear()
      for (const hash of watch.hashes) {
        const watched = byHash.get(hash)
        watched?.watches.delete(watch)
        if (watched?.watches.size === 0) byHash.delete(hash)
      }
    },
  }
}

/** Sets what a watch shows, and tells its listeners if that is something else than before. */
export function show(watch: WatchState, next: Inclusion): void {
  if (isSame(watch.inclusion, next)) return
  watch.inclusion = next
  for (const listener of [...watch.listeners]) isolate(() => listener(next))
}

function isSame(a: Inclusion, b: Inclusion): boolean {
  if (a.kind === 'unseen' || b.kind === 'unseen') return a.kind === b.kind
  return a.final === b.final && a.receipt.hash === b.receipt.hash && a.receipt.block.hash === b.receipt.block.hash
}
