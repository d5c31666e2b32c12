import type { BlockRef, HeadEvent, Inclusion, Receipt, Watch } from '../../port.ts'
import type { EvmHeads } from '../heads/heads.ts'
import type { Receipts } from './receipts.ts'

/** While fewer blocks are kept, a hash that no node knows is asked for again, so many times. */
const fewBlocks = 64
const mostDoubts = 2
/** How many hashes are remembered that were taken as new: far more than are ever in flight. */
const mostFresh = 4_096

const unseen: Inclusion = { kind: 'unseen' }

interface Watched {
  readonly hashes: Set<string>
  readonly listeners: Set<(inclusion: Inclusion) => void>
  inclusion: Inclusion
}

/** All watches of a chain. They cost one batched read when they attach and one per block that includes some of them. */
export interface Inclusions {
  watch(hashes: readonly string[]): Watch
  /** A node has just taken this transaction as new: it is in no block yet, and will be found in the blocks to come without a read. */
  accepted(hash: string): void
  /** Watches that are not closed. */
  readonly size: number
}

/** One node that is only late has the receipt by then. */
const mostMisses = 3

export function createInclusions(heads: EvmHeads, receipts: Receipts): Inclusions {
  const { kept } = heads
  const all = new Set<Watched>()
  const byHash = new Map<string, Set<Watched>>()
  /** Hashes whose receipt is to be read without knowing a block; tried again at each poll until answered. */
  const unread = new Set<string>()
  /** Hashes that were taken as new, oldest first. */
  const fresh = new Set<string>()
  /** Matched hashes whose receipt is not here yet, with the block they are in. */
  const matched = new Map<string, BlockRef>()
  /** Hashes that no node knew although they may be in a block from before our first; asked again at the next head, and how often they were. */
  const doubted = new Map<string, number>()
  /** How often a node had no receipt of a hash that its block lists. */
  const misses = new Map<string, number>()
  /** Hashes whose receipt is being asked of all nodes. */
  const verifying = new Set<string>()
  /** What is being read now, so that nothing is asked for twice at once. */
  const inFlight = new Set<string>()
  let knownBreaks = heads.breaks

  function onHead(event: HeadEvent): void {
    const gone = new Set(event.rolledBack.map(({ hash }) => hash))
    if (gone.size > 0) rollBack(gone)
    if (heads.breaks !== knownBreaks) {
      knownBreaks = heads.breaks
      recheck(event)
    }
    for (const block of event.applied) {
      for (const hash of block.transactions) if (byHash.has(hash)) matched.set(hash, block)
    }
    for (const watched of all) if (watched.inclusion.kind === 'included') change(watched, included(watched.inclusion.receipt))
    if (event.applied.length > 0) for (const hash of doubted.keys()) unread.add(hash)
    read()
  }

  function rollBack(gone: ReadonlySet<string>): void {
    for (const [hash, block] of matched) if (gone.has(block.hash)) matched.delete(hash)
    for (const watched of all) {
      if (watched.inclusion.kind === 'included' && gone.has(watched.inclusion.receipt.block.hash)) change(watched, unseen)
    }
  }

  /** Blocks were skipped, or a fork reaches below the kept blocks: what can't be told from those is asked again. */
  function recheck(event: HeadEvent): void {
    const firstKnown = event.applied[0]?.height ?? event.latest.height
    for (const watched of all) {
      if (watched.inclusion.kind === 'included' && (watched.inclusion.final || watched.inclusion.receipt.block.height >= firstKnown))
        continue
      for (const hash of watched.hashes) unread.add(hash)
    }
  }

  /** Reads what is due: by block where the block is known, else by hash. What fails stays due until the next poll. */
  function read(): void {
    readMatched()
    for (const hash of unread) if (!matched.has(hash) && !verifying.has(hash)) start(hash, () => readOne(hash))
  }

  function readMatched(): void {
    for (const [block, hashes] of groupByBlock()) start(block.hash, () => readBlock(block, hashes))
  }

  function start(key: string, work: () => Promise<void>): void {
    if (inFlight.has(key)) return
    inFlight.add(key)
    const done = () => void inFlight.delete(key)
    work().then(done, done)
  }

  function groupByBlock(): [BlockRef, string[]][] {
    const groups = new Map<string, [BlockRef, string[]]>()
    for (const [hash, block] of matched) {
      if (verifying.has(hash)) continue
      const group = groups.get(block.hash)
      if (group) group[1].push(hash)
      else groups.set(block.hash, [block, [hash]])
    }
    return [...groups.values()]
  }

  async function readBlock(block: BlockRef, hashes: readonly string[]): Promise<void> {
    const transactions = kept.at(block.height)?.transactions.length ?? hashes.length
    const found = await receipts.ofBlock(block, hashes, transactions)
    for (const receipt of found) settle(receipt)
    const answered = new Set(found.map(({ hash }) => hash))
    for (const hash of hashes) if (!answered.has(hash)) missed(hash)
  }

  /**
   * The block lists it, and the node that was asked has no receipt of that block: it lags, and has it at the next poll, or it lies, and the others
   * are asked.
   */
  function missed(hash: string): void {
    const times = (misses.get(hash) ?? 0) + 1
    misses.set(hash, times)
    if (times >= mostMisses && receipts.others && matched.has(hash)) verify(hash)
  }

  async function readOne(hash: string): Promise<void> {
    const before = [...(byHash.get(hash) ?? [])].map((watched) => [watched, watched.inclusion] as const)
    const receipt = await receipts.one(hash)
    if (!receipt) {
      unread.delete(hash)
      if (kept.find(hash)) return
      doubt(hash)
      // Included as we knew before we asked, but the chain below the kept blocks was replaced since.
      for (const [watched, inclusion] of before) {
        const stale = watched.inclusion === inclusion && inclusion.kind === 'included' && inclusion.receipt.hash === hash
        if (stale) change(watched, unseen)
      }
    } else if (receipt.block.height <= (heads.current?.latest.height ?? -1)) {
      settle(receipt)
    }
    // A block above the head that we know: the hash stays unread until the head tracker gets there.
  }

  /**
   * One node's word that nobody knows a hash is not enough while we have seen few blocks ourselves: it may have been mined before, and the node may
   * lag. Later a hash that is mined is found in the blocks.
   */
  function doubt(hash: string): void {
    const times = (doubted.get(hash) ?? 0) + 1
    const few = (kept.latest?.height ?? 0) - kept.lowest < fewBlocks
    if (few && times <= mostDoubts && byHash.has(hash)) doubted.set(hash, times)
    else doubted.delete(hash)
  }

  /**
   * Takes a receipt as true if its block is canonical and lists the transaction. More than half of the nodes must say the same where the block is
   * not kept, and of a revert: neither can be told from the blocks, and both make callers act.
   */
  function settle(receipt: Receipt): void {
    const listed = kept.lists(receipt.block, receipt.hash)
    if (listed === false) return
    if (listed && receipt.status === 'success') return accept(receipt)
    verify(receipt.hash)
  }

  function verify(hash: string): void {
    if (verifying.has(hash)) return
    verifying.add(hash)
    const done = () => void verifying.delete(hash)
    receipts
      .agreed(hash)
      .then((agreed) => kept.lists(agreed.block, agreed.hash) !== false && accept(agreed))
      .then(done, done)
  }

  function accept(receipt: Receipt): void {
    matched.delete(receipt.hash)
    unread.delete(receipt.hash)
    doubted.delete(receipt.hash)
    misses.delete(receipt.hash)
    for (const watched of byHash.get(receipt.hash) ?? []) change(watched, included(receipt))
  }

  function included(receipt: Receipt): Inclusion {
    return { kind: 'included', receipt, final: receipt.block.height <= (heads.current?.finalized ?? -1) }
  }

  function change(watched: Watched, next: Inclusion): void {
    const before = watched.inclusion
    if (before.kind === next.kind && before.kind === 'unseen') return
    if (before.kind === 'included' && next.kind === 'included') {
      if (before.final === next.final && before.receipt.hash === next.receipt.hash && before.receipt.block.hash === next.receipt.block.hash)
        return
    }
    watched.inclusion = next
    for (const listener of [...watched.listeners]) tell(listener, next)
  }

  function attach(watched: Watched, hash: string): void {
    if (watched.hashes.has(hash)) {
      // Said again, by who knows it to be in a block: the node that knew nothing of it is not to have the last word.
      if (watched.inclusion.kind === 'unseen' && !matched.has(hash)) unread.add(hash)
      return
    }
    watched.hashes.add(hash)
    const watchers = byHash.get(hash)
    if (watchers) watchers.add(watched)
    else byHash.set(hash, new Set([watched]))
    const block = kept.find(hash)
    if (block) matched.set(hash, { height: block.height, hash: block.hash })
    // Read with the next poll: most are sent before that, and taken as new, which saves the read.
    else if (!fresh.has(hash)) unread.add(hash)
  }

  function detach(watched: Watched): void {
    all.delete(watched)
    watched.listeners.clear()
    for (const hash of watched.hashes) {
      const watchers = byHash.get(hash)
      watchers?.delete(watched)
      if (watchers?.size) continue
      byHash.delete(hash)
      unread.delete(hash)
      matched.delete(hash)
      doubted.delete(hash)
      misses.delete(hash)
    }
  }

  heads.subscribe(onHead)
  heads.onPoll(read)

  return {
    get size() {
      return all.size
    },
    accepted(hash) {
      fresh.add(hash)
      unread.delete(hash)
      const [oldest] = fresh
      if (fresh.size > mostFresh && oldest !== undefined) fresh.delete(oldest)
    },
    watch(hashes) {
      const watched: Watched = { hashes: new Set(), listeners: new Set(), inclusion: unseen }
      all.add(watched)
      for (const hash of hashes) attach(watched, hash.toLowerCase())
      readMatched()
      return {
        get inclusion() {
          return watched.inclusion
        },
        add(hash) {
          if (!all.has(watched)) return
          attach(watched, hash.toLowerCase())
          readMatched()
        },
        onChange(listener) {
          if (!all.has(watched)) return
          watched.listeners.add(listener)
          const now = watched.inclusion
          if (now.kind === 'included') {
            queueMicrotask(() => watched.listeners.has(listener) && watched.inclusion === now && tell(listener, now))
          }
        },
        close: () => detach(watched),
      }
    },
  }
}

function tell(listener: (inclusion: Inclusion) => void, inclusion: Inclusion): void {
  try {
    listener(inclusion)
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}
