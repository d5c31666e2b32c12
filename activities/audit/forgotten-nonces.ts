import type { Chain } from '../../chains/port.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { gasPaid } from '../../domain/fees/fees.ts'
import { laneAddress } from '../../domain/lane/lane-id.ts'
import type { ForgottenNonces } from '../../domain/lane/lane.ts'
import { callHash } from '../../lanes/lane-call.ts'
import type { SendOperatorTransactionInput, SendOperatorTransactionResult } from '../../temporal/contracts/operator-transaction.ts'
import type { FinalNonces, NonceUser } from './final-nonces.ts'

/** The chain's clock may be so far from Temporal's, ms. */
const clockSlackMs = 10 * 60_000
/** Nonces that are read at a time. */
const atOnce = 8
/** Longest look, ms: below the step's time-out, with room for its other waits. What was read is kept for the next one. */
const lookMs = 100_000

type Result = Extract<SendOperatorTransactionResult, { kind: 'final' | 'no-slot' | 'lost' }>

export type Order = Pick<SendOperatorTransactionInput, 'lane' | 'intent'> & { readonly orderedAt: number }

/** What a look reads, and for how long. */
export interface Look {
  readonly chain: Chain
  /** Of this process, for all looks. */
  readonly known: FinalNonces
  /** Of the lane's ledger: the nonces of another chain or key are others. */
  readonly era: number
  /** The step is to end. */
  readonly signal: AbortSignal
  /** ms; absent: 100 s. */
  readonly forMs?: number
}

/**
 * Was this payment made by a ledger that is gone? Temporal that was restored from a copy has forgotten what was paid since, and nothing but the account's own
 * transactions tells. Looks at the nonces that the ledger did not give and heard of after the order, highest first, back to the time of the order. Undefined: none
 * of them made it. `final`: one did, or an equal one, and it is not made again. `no-slot`: it is not known yet; also if the look was ended by its signal or took
 * too long. Throws NODE_UNAVAILABLE.
 */
export async function findForgotten(look: Look, order: Order, forgotten: readonly ForgottenNonces[]): Promise<Result | undefined> {
  const ranges = forgotten.filter(({ at }) => at >= order.orderedAt).toSorted((a, b) => b.from - a.from)
  const [highest] = ranges
  if (!highest) return undefined
  const last = Math.max(...ranges.map(({ to }) => to)) - 1
  const { signal: ended, clear } = endOf(look)
  try {
    if ((await unlessEnded(look.chain.agreedNonce(laneAddress(order.lane)), ended)) <= last)
      return notYet(`nonce ${last} was given before Temporal was set back, or by somebody else, and is not final yet for most nodes`)
    return await search(look, order, ranges, ended)
  } catch (error) {
    if (ended.aborted) return stillRead()
    const { code, message } = toRelayerError(error)
    if (code !== 'NODES_DISAGREE') throw error
    return { kind: 'no-slot', code, reason: message }
  } finally {
    clear()
  }
}

/** By hand: of `AbortSignal.any` and `AbortSignal.timeout` together Node 20 may collect one before it fires, and the look would never end. */
function endOf({ signal, forMs = lookMs }: Look): { readonly signal: AbortSignal; readonly clear: () => void } {
  const controller = new AbortController()
  const end = () => controller.abort()
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  const timer = setTimeout(end, forMs)
  const clear = () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
  return { signal: controller.signal, clear }
}

async function search(look: Look, order: Order, ranges: readonly ForgottenNonces[], ended: AbortSignal): Promise<Result | undefined> {
  const wanted = callHash(order.intent)
  /** Of the nonce above. */
  let above: NonceUser | undefined
  for (const range of ranges) {
    for (let to = range.to; to > range.from; to -= atOnce) {
      const nonces = Array.from({ length: Math.min(atOnce, to - range.from) }, (_, index) => to - 1 - index)
      if (ended.aborted) return stillRead()
      const users = await unlessEnded(Promise.all(nonces.map((nonce) => look.known.user(look, order.lane, nonce))), ended)
      for (const [index, user] of users.entries()) {
        const nonce = nonces[index] ?? 0
        if (!user) return above && (await isBefore(look, order, above, ended)) ? undefined : lost(nonce, order, range)
        if (user.callHash === wanted) {
          // An equal one of long before the order is none of it.
          if (await isBefore(look, order, user, ended)) return undefined
          return unlessEnded(paidBy(look.chain, nonce, user.hash), ended)
        }
        above = user
      }
      // Nothing below it is younger.
      if (above && (await isBefore(look, order, above, ended))) return undefined
    }
  }
  return undefined
}

async function paidBy(chain: Chain, nonce: number, hash: string): Promise<Result> {
  const receipt = await chain.receipt(hash, 'agreed')
  if (!receipt) return notYet(`nonce ${nonce} was given before Temporal was set back, and has no receipt yet for most nodes`)
  const { height: blockHeight, hash: blockHash } = receipt.block
  return { kind: 'final', nonce, ok: receipt.status === 'success', txHash: hash, blockHeight, blockHash, gasPaid: gasPaid(receipt) }
}

/** Nothing that is older can be this payment. */
async function isBefore(look: Look, { lane, orderedAt }: Order, user: NonceUser, ended: AbortSignal): Promise<boolean> {
  const minedAt = await unlessEnded(look.known.minedAt(look, lane, user), ended)
  return minedAt !== undefined && minedAt < orderedAt - clockSlackMs
}

/** What is read goes on, and is kept for the next look. */
function unlessEnded<T>(read: Promise<T>, ended: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new RelayerError('NODE_UNAVAILABLE', { detail: 'the look was ended' }))
    if (ended.aborted) end()
    ended.addEventListener('abort', end, { once: true })
    read.then(resolve, reject).finally(() => ended.removeEventListener('abort', end))
  })
}

function stillRead(): Result {
  return notYet('the nonces that the ledger did not give are still being read')
}

function notYet(reason: string): Result {
  return { kind: 'no-slot', code: 'NONCE_NOT_FINAL', reason }
}

function lost(nonce: number, { lane }: Order, { from }: ForgottenNonces): Result {
  const why = from === 0 ? 'The ledger began after the key was in use' : 'Temporal was set back, or somebody else used the key'
  const detail = `${why}, and the nodes no longer tell what used this nonce: it may have been this transaction.`
  return { kind: 'lost', reason: new RelayerError('TRANSACTION_LOST', { detail, facts: { lane, nonce } }).message }
}
