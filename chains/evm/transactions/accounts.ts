import { RelayerError } from '../../../domain/errors.ts'
import type { FinalityPolicy } from '../../../domain/finality.ts'
import type { Account, HeadEvent } from '../../port.ts'
import type { EvmHeads } from '../heads/heads.ts'
import { toDecimal, toNumber, toQuantity } from '../hex.ts'
import { RpcError } from '../nodes/node-errors.ts'
import type { Nodes } from '../nodes/nodes.ts'

/** Full nodes keep the state of the last 128 blocks (go-ethereum TriesInMemory). */
const statesKept = 128
/** So many heads in a row at which a node counts less than was read before: then that was not the truth. A node that lags catches up sooner. */
const mostDenials = 5

export interface Accounts {
  /** See `Chain.account`. At most one set of reads per address and head. */
  read(address: string): Promise<Account>
  /** The block argument of a read at the finalized state. */
  finalizedTag(): string
}

export function createAccounts(chain: string, nodes: Nodes, heads: EvmHeads, finality: FinalityPolicy): Accounts {
  let head = ''
  const memo = new Map<string, Promise<Account>>()
  /** The highest nonces read on this chain of blocks: a node that lags behind another can't take them back. */
  const floors = new Map<string, { latest: number; finalized: number; denials: number }>()

  heads.subscribe((event) => {
    if (event.rolledBack.length === 0) return
    memo.clear()
    const lowestGone = event.rolledBack.at(-1)?.height ?? 0
    if (lowestGone <= event.finalized) floors.clear()
    else for (const floor of floors.values()) floor.latest = floor.finalized
  })

  function tag(event: HeadEvent): string {
    if (finality.kind === 'instant') return 'latest'
    return event.latest.height - event.finalized < statesKept ? toQuantity(event.finalized) : 'finalized'
  }

  async function readFinalizedNonce(address: string, event: HeadEvent): Promise<number> {
    const at = tag(event)
    try {
      return toNumber(await nodes.request('eth_getTransactionCount', [address, at]), 'transaction count')
    } catch (error) {
      // A pruned node, or one that has not this block yet: its own tag is the next best word.
      if (!(error instanceof RpcError) || at === 'finalized') throw error
      return toNumber(await nodes.request('eth_getTransactionCount', [address, 'finalized']), 'transaction count')
    }
  }

  async function readNow(address: string, event: HeadEvent): Promise<Account> {
    const [latest, balance, finalized] = await Promise.all([
      nodes.request('eth_getTransactionCount', [address, 'latest']),
      nodes.request('eth_getBalance', [address, 'latest']),
      finality.kind === 'instant' ? undefined : readFinalizedNonce(address, event),
    ])
    const count = toNumber(latest, 'transaction count')
    const known = floors.get(address) ?? { latest: 0, finalized: 0, denials: 0 }
    const denied = count < known.latest || (finalized ?? count) < known.finalized
    const denials = denied ? known.denials + 1 : 0
    // Floors hold only while the head that they were read at is an ancestor of ours.
    const canonical = heads.kept.isCanonical(event.latest) !== false
    const floor = denials < mostDenials ? known : { latest: 0, finalized: 0 }
    const latestNonce = canonical ? Math.max(floor.latest, count) : count
    const finalizedNonce = Math.min(latestNonce, Math.max(floor.finalized, finalized ?? latestNonce))
    if (canonical) floors.set(address, { latest: latestNonce, finalized: finalizedNonce, denials: floor === known ? denials : 0 })
    const { height, hash } = event.latest
    return { latestNonce, finalizedNonce, balance: toDecimal(balance, 'balance'), block: { height, hash } }
  }

  return {
    finalizedTag() {
      return tag(currentHead(chain, heads))
    },
    async read(address) {
      const event = currentHead(chain, heads)
      // The finalized height may move without a new head.
      const now = `${event.latest.hash}/${event.finalized}`
      if (now !== head) {
        head = now
        memo.clear()
      }
      const key = address.toLowerCase()
      const running = memo.get(key)
      if (running) return running
      const reading = readNow(key, event)
      memo.set(key, reading)
      // A failure is not an answer: the next who asks reads again.
      reading.catch(() => memo.get(key) === reading && memo.delete(key))
      return reading
    },
  }
}

/** The last head event. Throws NODE_UNAVAILABLE before `connect`. */
export function currentHead(chain: string, heads: EvmHeads): HeadEvent {
  if (heads.current) return heads.current
  throw new RelayerError('NODE_UNAVAILABLE', { detail: 'The head tracker has read no block yet.', facts: { chain } })
}
