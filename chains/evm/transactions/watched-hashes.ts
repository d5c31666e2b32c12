import type { Block, BlockRef, Inclusion } from '../../port.ts'
import { isolate } from '../heads/head-events.ts'

export type Due =
  /** Nothing to read: the receipt was read, or a later block will list the hash. */
  | { readonly kind: 'nothing' }
  /** The lookup failed `unknown` times. The next block repeats it: a block below the cache may include the hash. */
  | { readonly kind: 'lookup'; readonly unknown: number }
  /** Looked up in vain `unknown` times, and again at the next block: it may be mined below the cached blocks. */
  | { readonly kind: 'unknown'; readonly unknown: number }
  /** A cached block lists the hash. `misses`: how often a node lacked the receipt. */
  | { readonly kind: 'listed'; readonly block: BlockRef; readonly misses: number }

export interface WatchedHash {
  readonly hash: string
  readonly watches: Set<WatchState>
  due: Due
  busy: boolean
}

export interface WatchState {
  readonly hashes: Set<string>
  readonly listeners: Set<(inclusion: Inclusion) => void>
  inclusion: Inclusion
}

export const nothing: Due = { kind: 'nothing' }
export const lookup: Due = { kind: 'lookup', unknown: 0 }
export const unseen: Inclusion = { kind: 'unseen' }

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
    rollBack(blocks: readonly BlockRef[]): void {
      const gone = new Set(blocks.map(({ hash }) => hash))
      for (const watched of byHash.values()) if (watched.due.kind === 'listed' && gone.has(watched.due.block.hash)) watched.due = nothing
      for (const watch of all) {
        if (watch.inclusion.kind === 'included' && gone.has(watch.inclusion.receipt.block.hash)) show(watch, unseen)
      }
    },
    /** After blocks were skipped or replaced, looks up every hash that a block below `firstKnown` may include. */
    recheck(firstKnown: number): void {
      for (const { inclusion, hashes } of all) {
        if (inclusion.kind === 'included' && (inclusion.final || inclusion.receipt.block.height >= firstKnown)) continue
        for (const hash of hashes) {
          const watched = byHash.get(hash)
          if (watched && watched.due.kind !== 'listed') watched.due = lookup
        }
      }
    },
    apply(blocks: readonly Block[]): void {
      for (const block of blocks) {
        for (const hash of block.transactions) {
          const watched = byHash.get(hash)
          if (watched) watched.due = { kind: 'listed', block, misses: 0 }
        }
      }
      if (blocks.length === 0) return
      for (const watched of byHash.values()) if (watched.due.kind === 'unknown') watched.due = { ...watched.due, kind: 'lookup' }
    },
  }
}

export function show(watch: WatchState, next: Inclusion): void {
  if (isSame(watch.inclusion, next)) return
  watch.inclusion = next
  for (const listener of [...watch.listeners]) isolate(() => listener(next))
}

function isSame(a: Inclusion, b: Inclusion): boolean {
  if (a.kind === 'unseen' || b.kind === 'unseen') return a.kind === b.kind
  return a.final === b.final && a.receipt.hash === b.receipt.hash && a.receipt.block.hash === b.receipt.block.hash
}
