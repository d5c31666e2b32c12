import { LRUCache } from 'lru-cache'
import { groupBy } from '../../../domain/group-by.ts'
import type { Block, BlockRef, Inclusion, Receipt, Watch } from '../../port.ts'
import { isolate } from '../heads/head-events.ts'
import type { EvmHeads } from '../heads/heads.ts'
import type { Receipts } from './receipts.ts'

const mostAccepted = 4_096
const fewBlocks = 64
const mostUnknown = 2
/** Number of reads without a receipt after which all nodes are asked. A node that only lags has the receipt by then. */
const mostMisses = 3

/** Undefined: nothing to read, because the receipt was read, or because a later block will list the hash. */
type Due =
  | undefined
  | { readonly kind: 'lookup'; readonly unknown: number }
  /** The lookup is repeated at the next block, because a block that is not cached may include the hash. */
  | { readonly kind: 'unknown'; readonly unknown: number }
  | { readonly kind: 'listed'; readonly block: BlockRef; readonly misses: number }

interface WatchedHash {
  readonly hash: string
  readonly watches: Set<WatchState>
  due: Due
  busy: boolean
}

interface WatchState {
  readonly hashes: Set<string>
  readonly listeners: Set<(inclusion: Inclusion) => void>
  inclusion: Inclusion
}

const lookup: Due = { kind: 'lookup', unknown: 0 }
const unseen: Inclusion = { kind: 'unseen' }

export function createInclusions(heads: EvmHeads, receipts: Receipts) {
  const { kept } = heads
  const watches = createWatchedHashes()
  const accepted = new LRUCache<string, true>({ max: mostAccepted })
  const reads = createReceiptReads(heads, receipts, watches.byHash)

  function attach(watch: WatchState, hash: string): void {
    const isNew = !watch.hashes.has(hash)
    const watched = watches.add(watch, hash)
    const block = isNew ? kept.find(hash) : undefined
    if (block) watched.due = { kind: 'listed', block, misses: 0 }
    if (watched.due?.kind === 'listed') return
    if (isNew ? !accepted.has(hash) : watch.inclusion.kind === 'unseen') watched.due = lookup
  }

  let knownBreaks = heads.breaks
  heads.subscribe(({ rolledBack, applied, latest }) => {
    if (rolledBack.length > 0) watches.rollBack(rolledBack)
    if (heads.breaks !== knownBreaks) watches.recheck(applied[0]?.height ?? latest.height)
    knownBreaks = heads.breaks
    watches.apply(applied)
    for (const watch of watches.all) if (watch.inclusion.kind === 'included') show(watch, included(heads, watch.inclusion.receipt))
    reads.all()
  })
  heads.onPoll(reads.all)

  return {
    /** Called for a new transaction that a node accepted. Its receipt is read only once a block lists the hash. */
    accepted(hash: string): void {
      accepted.set(hash, true)
      const watched = watches.byHash.get(hash)
      if (watched?.due?.kind === 'lookup') watched.due = undefined
    },
    watch(hashes: readonly string[]): Watch {
      const watch = watches.open()
      const add = (more: readonly string[]) => {
        for (const hash of more) attach(watch, hash.toLowerCase())
        reads.listed()
      }
      add(hashes)
      return {
        get inclusion() {
          return watch.inclusion
        },
        add(hash) {
          if (watches.all.has(watch)) add([hash])
        },
        onChange(listener) {
          if (!watches.all.has(watch)) return
          watch.listeners.add(listener)
          const now = watch.inclusion
          if (now.kind === 'unseen') return
          queueMicrotask(() => watch.listeners.has(listener) && watch.inclusion === now && isolate(() => listener(now)))
        },
        close: () => watches.close(watch),
      }
    },
  }
}

function createReceiptReads(heads: EvmHeads, receipts: Receipts, hashes: ReadonlyMap<string, WatchedHash>) {
  const { kept } = heads

  function start(watched: WatchedHash, work: () => Promise<void>): void {
    watched.busy = true
    const done = () => void (watched.busy = false)
    work().then(done, done)
  }

  function readBlock(block: BlockRef, listed: readonly { readonly watched: WatchedHash }[]): void {
    const wanted = listed.map(({ watched }) => watched.hash)
    const found = receipts.ofBlock(block, wanted, kept.at(block.height)?.transactions.length ?? wanted.length)
    for (const { watched } of listed) {
      start(watched, async () => {
        const receipt = (await found).find(({ hash }) => hash === watched.hash)
        await (receipt ? judge(watched, receipt) : missed(watched))
      })
    }
  }

  async function missed(watched: WatchedHash): Promise<void> {
    if (watched.due?.kind !== 'listed') return
    watched.due = { ...watched.due, misses: watched.due.misses + 1 }
    if (watched.due.misses >= mostMisses && receipts.others) await verify(watched)
  }

  async function lookUp(watched: WatchedHash): Promise<void> {
    const before = [...watched.watches].map((watch) => ({ watch, inclusion: watch.inclusion }))
    const receipt = await receipts.one(watched.hash)
    if (receipt && receipt.block.height > (heads.current?.latest.height ?? -1)) return
    if (receipt) return judge(watched, receipt)
    if (kept.find(watched.hash)) return
    watched.due = afterUnknown(watched.due, kept)
    for (const { watch, inclusion } of before) {
      if (watch.inclusion === inclusion && inclusion.kind === 'included' && inclusion.receipt.hash === watched.hash) show(watch, unseen)
    }
  }

  /**
   * One node suffices for a success that a cached block lists. A receipt is ignored if its block is cached and does not
   * list the transaction. For anything else, most nodes must agree.
   */
  async function judge(watched: WatchedHash, receipt: Receipt): Promise<void> {
    const listed = kept.lists(receipt.block, receipt.hash)
    if (listed && receipt.status === 'success') settle(watched, receipt)
    else if (listed !== false) await verify(watched)
  }

  async function verify(watched: WatchedHash): Promise<void> {
    const agreed = await receipts.agreed(watched.hash)
    if (kept.lists(agreed.block, agreed.hash) !== false) settle(watched, agreed)
  }

  function settle(watched: WatchedHash, receipt: Receipt): void {
    watched.due = undefined
    for (const watch of watched.watches) show(watch, included(heads, receipt))
  }

  function listed(): void {
    const found = [...hashes.values()].flatMap((watched) =>
      watched.due?.kind === 'listed' && !watched.busy ? [{ watched, block: watched.due.block }] : [],
    )
    for (const group of groupBy(found, ({ block }) => block.hash).values()) readBlock(group[0].block, group)
  }

  return {
    listed,
    all() {
      listed()
      for (const watched of hashes.values()) if (watched.due?.kind === 'lookup' && !watched.busy) start(watched, () => lookUp(watched))
    },
  }
}

function afterUnknown(due: Due, kept: EvmHeads['kept']): Due {
  const unknown = 1 + (due?.kind === 'lookup' ? due.unknown : 0)
  const hasFewBlocks = (kept.latest?.height ?? 0) - kept.lowest < fewBlocks
  return hasFewBlocks && unknown <= mostUnknown ? { kind: 'unknown', unknown } : undefined
}

function included(heads: EvmHeads, receipt: Receipt): Inclusion {
  return { kind: 'included', receipt, final: receipt.block.height <= (heads.current?.finalized ?? -1) }
}

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
      const known: WatchedHash = byHash.get(hash) ?? { hash, watches: new Set(), due: undefined, busy: false }
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
      for (const watched of byHash.values()) if (watched.due?.kind === 'listed' && gone.has(watched.due.block.hash)) watched.due = undefined
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
          if (watched && watched.due?.kind !== 'listed') watched.due = lookup
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
      for (const watched of byHash.values()) if (watched.due?.kind === 'unknown') watched.due = { ...watched.due, kind: 'lookup' }
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
