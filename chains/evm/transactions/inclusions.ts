import { LRUCache } from 'lru-cache'
import type { Block, BlockRef, Inclusion, Receipt, Watch } from '../../port.ts'
import { isolate } from '../heads/head-events.ts'
import type { EvmHeads } from '../heads/heads.ts'
import { createReceiptReads } from './receipt-reads.ts'
import type { Receipts } from './receipts.ts'

const mostAccepted = 4_096

/** All watches of a chain. They cost one batched read to attach and one per block that includes some. */
export function createInclusions(heads: EvmHeads, receipts: Receipts) {
  const { kept } = heads
  const watches = createWatchedHashes()
  const accepted = new LRUCache<string, true>({ max: mostAccepted })
  const reads = createReceiptReads({
    heads,
    receipts,
    hashes: watches.byHash,
    onReceipt(watched, receipt) {
      watched.due = nothing
      for (const watch of watched.watches) show(watch, included(heads, receipt))
    },
    onGone: (watch) => show(watch, unseen),
  })

  function attach(watch: WatchState, hash: string): void {
    const isNew = !watch.hashes.has(hash)
    const watched = watches.add(watch, hash)
    const block = isNew ? kept.find(hash) : undefined
    if (block) watched.due = { kind: 'listed', block, misses: 0 }
    if (watched.due.kind === 'listed') return
    // A new hash waits for the next poll, which saves most reads. An added hash that is in a block is asked again.
    if (isNew ? !accepted.has(hash) : watch.inclusion.kind === 'unseen') watched.due = lookup
  }

  followHeads(heads, watches, reads.all)
  heads.onPoll(reads.all)

  return {
    /** The transaction is new, so later blocks show it without a read. */
    accepted(hash: string): void {
      accepted.set(hash, true)
      const watched = watches.byHash.get(hash)
      if (watched?.due.kind === 'lookup') watched.due = nothing
    },
    watch(hashes: readonly string[]): Watch {
      const watch = watches.open()
      const add = (hash: string) => attach(watch, hash.toLowerCase())
      hashes.forEach(add)
      reads.listed()
      return toWatch(watches, watch, (hash) => {
        add(hash)
        reads.listed()
      })
    },
  }
}

function followHeads(heads: EvmHeads, watches: WatchedHashes, read: () => void): void {
  let knownBreaks = heads.breaks
  heads.subscribe(({ rolledBack, applied, latest }) => {
    if (rolledBack.length > 0) watches.rollBack(rolledBack)
    if (heads.breaks !== knownBreaks) watches.recheck(applied[0]?.height ?? latest.height)
    knownBreaks = heads.breaks
    watches.apply(applied)
    // A receipt may have become final.
    for (const watch of watches.all) if (watch.inclusion.kind === 'included') show(watch, included(heads, watch.inclusion.receipt))
    read()
  })
}

function toWatch({ all, close }: WatchedHashes, watch: WatchState, add: (hash: string) => void): Watch {
  return {
    get inclusion() {
      return watch.inclusion
    },
    add(hash) {
      if (all.has(watch)) add(hash)
    },
    onChange(listener) {
      if (!all.has(watch)) return
      watch.listeners.add(listener)
      const now = watch.inclusion
      if (now.kind === 'unseen') return
      queueMicrotask(() => watch.listeners.has(listener) && watch.inclusion === now && isolate(() => listener(now)))
    },
    close: () => close(watch),
  }
}

function included(heads: EvmHeads, receipt: Receipt): Inclusion {
  return { kind: 'included', receipt, final: receipt.block.height <= (heads.current?.finalized ?? -1) }
}

export type Due =
  /** Its receipt was read, or a later block will list it. */
  | { readonly kind: 'nothing' }
  /** Its receipt is read by hash at each poll until a node answers. */
  | { readonly kind: 'lookup'; readonly unknown: number }
  /** No node knew it `unknown` times. Looked up again at the next block: it may be below the cached ones. */
  | { readonly kind: 'unknown'; readonly unknown: number }
  /** A cached block lists it. `misses`: how often a node lacked the receipt. */
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
const lookup: Due = { kind: 'lookup', unknown: 0 }
const unseen: Inclusion = { kind: 'unseen' }

type WatchedHashes = ReturnType<typeof createWatchedHashes>

/** All watches of a chain by hash. No I/O. */
function createWatchedHashes() {
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
    /** For skipped or replaced blocks: looks up all that blocks from `firstKnown` on cannot show. */
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

function show(watch: WatchState, next: Inclusion): void {
  if (isSame(watch.inclusion, next)) return
  watch.inclusion = next
  for (const listener of [...watch.listeners]) isolate(() => listener(next))
}

function isSame(a: Inclusion, b: Inclusion): boolean {
  if (a.kind === 'unseen' || b.kind === 'unseen') return a.kind === b.kind
  return a.final === b.final && a.receipt.hash === b.receipt.hash && a.receipt.block.hash === b.receipt.block.hash
}
