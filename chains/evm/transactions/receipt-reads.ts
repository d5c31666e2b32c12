import type { BlockRef, Receipt } from '../../port.ts'
import type { EvmHeads } from '../heads/heads.ts'
import type { Receipts } from './receipts.ts'
import { type Due, nothing, type WatchedHash, type WatchState } from './inclusions.ts'

/** With fewer cached blocks an unknown hash is looked up again, up to `mostUnknown` times. */
const fewBlocks = 64
const mostUnknown = 2
/** A node that only lags has the receipt by then. */
const mostMisses = 3

export interface ReceiptReadsOptions {
  readonly heads: Pick<EvmHeads, 'kept' | 'current'>
  readonly receipts: Receipts
  readonly hashes: ReadonlyMap<string, WatchedHash>
  readonly onReceipt: (watched: WatchedHash, receipt: Receipt) => void
  /** No node has it in a block any more, but the watch still shows it as included. */
  readonly onGone: (watch: WatchState) => void
}

export function createReceiptReads({ heads, receipts, hashes, onReceipt, onGone }: ReceiptReadsOptions) {
  const { kept } = heads

  function start(watched: WatchedHash, work: () => Promise<void>): void {
    watched.busy = true
    const done = () => void (watched.busy = false)
    work().then(done, done)
  }

  function readBlock(block: BlockRef, listed: readonly WatchedHash[]): void {
    const inBlock = kept.at(block.height)?.transactions.length ?? listed.length
    const wanted = listed.map(({ hash }) => hash)
    const found = receipts.ofBlock(block, wanted, inBlock)
    for (const watched of listed) {
      start(watched, async () => {
        const receipt = (await found).find(({ hash }) => hash === watched.hash)
        await (receipt ? judge(watched, receipt) : missed(watched))
      })
    }
  }

  /** The node lacks a listed receipt. If it lags, the next poll finds it; if it lies, the others are asked. */
  async function missed(watched: WatchedHash): Promise<void> {
    if (watched.due.kind !== 'listed') return
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
      if (watch.inclusion === inclusion && inclusion.kind === 'included' && inclusion.receipt.hash === watched.hash) onGone(watch)
    }
  }

  /** True if the cached block lists it. Reverts and receipts of other blocks need more than half of the nodes. */
  async function judge(watched: WatchedHash, receipt: Receipt): Promise<void> {
    const listed = kept.lists(receipt.block, receipt.hash)
    if (listed && receipt.status === 'success') onReceipt(watched, receipt)
    else if (listed !== false) await verify(watched)
  }

  async function verify(watched: WatchedHash): Promise<void> {
    const agreed = await receipts.agreed(watched.hash)
    if (kept.lists(agreed.block, agreed.hash) !== false) onReceipt(watched, agreed)
  }

  function listed(): void {
    for (const [block, group] of byBlock(hashes.values())) readBlock(block, group)
  }

  return {
    listed,
    /** Failed reads stay due until the next poll. */
    all() {
      listed()
      for (const watched of hashes.values()) if (watched.due.kind === 'lookup' && !watched.busy) start(watched, () => lookUp(watched))
    },
  }
}

function byBlock(hashes: Iterable<WatchedHash>): Iterable<[BlockRef, WatchedHash[]]> {
  const groups = new Map<string, [BlockRef, WatchedHash[]]>()
  for (const watched of hashes) {
    const { due, busy } = watched
    if (due.kind !== 'listed' || busy) continue
    const group = groups.get(due.block.hash)
    if (group) group[1].push(watched)
    else groups.set(due.block.hash, [due.block, [watched]])
  }
  return groups.values()
}

/** A hash may be mined below the cached blocks, and the node may lag. */
function afterUnknown(due: Due, kept: EvmHeads['kept']): Due {
  const unknown = 1 + (due.kind === 'lookup' ? due.unknown : 0)
  const few = (kept.latest?.height ?? 0) - kept.lowest < fewBlocks
  return few && unknown <= mostUnknown ? { kind: 'unknown', unknown } : nothing
}
