import { LRUCache } from 'lru-cache'
import type { Inclusion, Receipt, Watch } from '../../port.ts'
import { isolate } from '../heads/head-events.ts'
import type { EvmHeads } from '../heads/heads.ts'
import { createReceiptReads } from './receipt-reads.ts'
import type { Receipts } from './receipts.ts'
import { createWatchedHashes, lookup, nothing, show, unseen, type WatchedHashes, type WatchState } from './watched-hashes.ts'

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
