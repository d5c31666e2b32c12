import type { HeadEvent, Inclusion, Receipt, Watch } from '../../port.ts'
import type { EvmHeads } from '../heads/heads.ts'
import { isolate } from '../isolate.ts'
import { createReceiptReads } from './receipt-reads.ts'
import type { Receipts } from './receipts.ts'
import { createWatchedHashes, type Due, nothing, show, unseen, type WatchedHashes, type WatchState } from './watched-hashes.ts'

/** How many hashes are remembered that a node took as new: far more than are ever pending. */
const mostNew = 4_096

const lookup: Due = { kind: 'lookup', unknown: 0 }

/** All watches of a chain. They cost one batched read when they attach and one per block that includes some of them. */
export function createInclusions(heads: EvmHeads, receipts: Receipts) {
  const { kept } = heads
  const watches = createWatchedHashes()
  /** Hashes that were taken as new, oldest first. */
  const taken = new Set<string>()
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
    // A new one is looked up at the next poll: most are sent before that and taken as new, which saves the read. One that is named again is in a block, as
    // its caller knows: a node that knew nothing of it does not have the last word.
    if (isNew ? !taken.has(hash) : watch.inclusion.kind === 'unseen') watched.due = lookup
  }

  followHeads(heads, watches, reads.all)
  heads.onPoll(reads.all)

  return {
    /** A node has just taken this transaction as new: it is in no block yet, and will be found in the blocks to come without a read. */
    accepted(hash: string): void {
      taken.add(hash)
      const watched = watches.byHash.get(hash)
      if (watched?.due.kind === 'lookup') watched.due = nothing
      const [oldest] = taken
      if (taken.size > mostNew && oldest !== undefined) taken.delete(oldest)
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

/** Brings the watches up to each head, then reads what is due. */
function followHeads(heads: EvmHeads, { all, byHash }: WatchedHashes, read: () => void): void {
  let knownBreaks = heads.breaks

  function rollBack(gone: ReadonlySet<string>): void {
    for (const watched of byHash.values()) if (watched.due.kind === 'listed' && gone.has(watched.due.block.hash)) watched.due = nothing
    for (const watch of all) {
      if (watch.inclusion.kind === 'included' && gone.has(watch.inclusion.receipt.block.hash)) show(watch, unseen)
    }
  }

  /** Blocks were skipped, or a fork reaches below the cached blocks: what these can't tell is looked up again. */
  function recheck(event: HeadEvent): void {
    const firstKnown = event.applied[0]?.height ?? event.latest.height
    for (const { inclusion, hashes } of all) {
      if (inclusion.kind === 'included' && (inclusion.final || inclusion.receipt.block.height >= firstKnown)) continue
      for (const hash of hashes) {
        const watched = byHash.get(hash)
        if (watched && watched.due.kind !== 'listed') watched.due = lookup
      }
    }
  }

  heads.subscribe((event) => {
    if (event.rolledBack.length > 0) rollBack(new Set(event.rolledBack.map(({ hash }) => hash)))
    if (heads.breaks !== knownBreaks) recheck(event)
    knownBreaks = heads.breaks
    for (const block of event.applied) {
      for (const hash of block.transactions) {
        const watched = byHash.get(hash)
        if (watched) watched.due = { kind: 'listed', block, misses: 0 }
      }
    }
    for (const watch of all) if (watch.inclusion.kind === 'included') show(watch, included(heads, watch.inclusion.receipt))
    if (event.applied.length > 0) {
      for (const watched of byHash.values()) if (watched.due.kind === 'unknown') watched.due = { ...watched.due, kind: 'lookup' }
    }
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
