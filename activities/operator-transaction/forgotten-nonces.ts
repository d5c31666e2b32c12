import type { Chain, Receipt } from '../../chains/port.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { gasPaid } from '../../domain/fees/fees.ts'
import { type ForgottenNonces, laneAddress, type LaneId } from '../../domain/lane/lane.ts'
import { callHash } from '../../lanes/deps.ts'
import { Wait } from '../../runtime/wait.ts'
import type { SendOperatorTransactionInput, SendOperatorTransactionResult } from '../../temporal/contracts/operator-transaction.ts'
import { LRUCache } from 'lru-cache'

/** Maximum assumed difference between the clocks of the chain and of Temporal, ms. */
const clockSlackMs = 10 * 60_000
const atOnce = 8
/**
 * Maximum length of a search, ms, below the step's time-out. The next try reuses the answers of a search that takes
 * longer.
 */
const searchMs = 100_000
const mostKept = 50_000

type Result = Extract<SendOperatorTransactionResult, { kind: 'final' | 'no-slot' | 'lost' }>

export type Order = Pick<SendOperatorTransactionInput, 'lane' | 'intent'> & { readonly orderedAt: number }

export interface Search {
  readonly chain: Chain
  readonly known: FinalNonces
  /** Number of resets of the lane's ledger. After a reset, old answers are not used: the chain may be another one. */
  readonly era: number
  readonly signal: AbortSignal
  readonly forMs?: number
}

interface NonceUser {
  readonly hash: string
  readonly callHash: string
  readonly height: number
}

/** Caches which transaction used a final nonce, and when. Missing answers are not cached. */
export class FinalNonces {
  readonly #answers: LRUCache<string, Promise<unknown>>

  constructor(max = mostKept) {
    this.#answers = new LRUCache({ max })
  }

  user({ chain, era }: Pick<Search, 'chain' | 'era'>, lane: LaneId, nonce: number): Promise<NonceUser | undefined> {
    return this.#once(`${lane} ${era} nonce ${nonce}`, async () => {
      const mined = await chain.mined(laneAddress(lane), nonce)
      return mined && { hash: mined.hash, callHash: callHash(mined.call), height: mined.block.height }
    })
  }

  /** Time of the block, ms since the epoch. Undefined if the nodes no longer have the block. */
  minedAt({ chain, era }: Pick<Search, 'chain' | 'era'>, lane: LaneId, { height }: NonceUser): Promise<number | undefined> {
    return this.#once(`${lane} ${era} block ${height}`, async () => {
      const block = await chain.block(height, 'agreed')
      return block && block.timestamp * 1000
    })
  }

  #once<T>(key: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const known = this.#answers.get(key)
    if (known) return known as Promise<T | undefined>
    const answer = read()
    this.#answers.set(key, answer)
    const forget = () => void (this.#answers.peek(key) === answer && this.#answers.delete(key))
    answer.then((value) => (value === undefined ? forget() : undefined), forget)
    return answer
  }
}

/**
 * Finds the order's payment among the forgotten nonces. Undefined if the payment is not among them. `no-slot`: not
 * known yet. `lost`: the nodes no longer have a transaction that may be the payment. Throws read errors, but not
 * NODES_DISAGREE.
 */
export async function findForgotten(search: Search, order: Order, forgotten: readonly ForgottenNonces[]): Promise<Result | undefined> {
  const ranges = forgotten.filter(({ at }) => at >= order.orderedAt).toSorted((a, b) => b.from - a.from)
  if (ranges.length === 0) return undefined
  const { signal, forMs: timeoutMs = searchMs } = search
  const wait = new Wait<Result | undefined>({ timeoutMs, signal }, () => wait.resolve(stillRead))
  find(search, order, ranges, () => wait.over).then(wait.resolve, (error: unknown) => {
    const { code, message: reason } = toRelayerError(error)
    if (code === 'NODES_DISAGREE') wait.resolve({ kind: 'no-slot', code, reason })
    else wait.reject(error)
  })
  return wait.promise
}

async function find(search: Search, order: Order, ranges: readonly ForgottenNonces[], isOver: () => boolean): Promise<Result | undefined> {
  const { chain, known } = search
  const { lane, orderedAt, intent } = order
  const wanted = callHash(intent)
  const last = Math.max(...ranges.map(({ to }) => to)) - 1
  if ((await chain.agreedNonce(laneAddress(lane))) <= last)
    return notYet(
      `nonce ${last} was granted before Temporal was restored, or used by somebody else, and most nodes do not show it as final yet`,
    )
  const isBeforeOrder = async (user: NonceUser | undefined): Promise<boolean> => {
    const minedAt = user && (await known.minedAt(search, lane, user))
    return minedAt !== undefined && minedAt < orderedAt - clockSlackMs
  }
  let above: NonceUser | undefined
  for (const { range, nonces } of descending(ranges)) {
    if (isOver()) return stillRead
    const users = await Promise.all(nonces.map((nonce) => known.user(search, lane, nonce)))
    for (const [index, user] of users.entries()) {
      const nonce = nonces[index] ?? 0
      if (!user) return (await isBeforeOrder(above)) ? undefined : lostResult(whyLost(range), { lane, nonce })
      // A payment that is much older than this order belongs to another order, even if it is equal.
      if (user.callHash === wanted) return (await isBeforeOrder(user)) ? undefined : paidBy(chain, nonce, user.hash)
      above = user
    }
    if (await isBeforeOrder(above)) return undefined
  }
  return undefined
}

function* descending(ranges: readonly ForgottenNonces[]) {
  for (const range of ranges)
    for (let to = range.to; to > range.from; to -= atOnce)
      yield { range, nonces: Array.from({ length: Math.min(atOnce, to - range.from) }, (_, index) => to - 1 - index) }
}

async function paidBy(chain: Chain, nonce: number, hash: string): Promise<Result> {
  const receipt = await chain.receipt(hash, 'agreed')
  if (receipt) return finalResult(nonce, receipt)
  return notYet(`nonce ${nonce} was granted before Temporal was restored, and most nodes have no receipt of it yet`)
}

export function finalResult(nonce: number, receipt: Receipt) {
  const { hash, status, block } = receipt
  const where = { txHash: hash, blockHeight: block.height, blockHash: block.hash }
  return { kind: 'final', nonce, ok: status === 'success', ...where, gasPaid: gasPaid(receipt) } as const
}

const stillRead = notYet('the nonces that the ledger did not grant are still being read')

function notYet(reason: string): Result {
  return { kind: 'no-slot', code: 'NONCE_NOT_FINAL', reason }
}

function whyLost({ from }: ForgottenNonces): string {
  const why =
    from === 0 ? 'The ledger began after the key was in use' : 'Temporal was restored to an earlier state, or somebody else used the key'
  return `${why}, and the nodes no longer have the transaction that used this nonce: it may be this one.`
}

export function lostResult(detail: string, facts: { lane: LaneId; nonce?: number; hashes?: string }): Result {
  return { kind: 'lost', reason: new RelayerError('TRANSACTION_LOST', { detail, facts }).message }
}
