import type { Chain } from '../chains/port.ts'
import { RelayerError, toRelayerError } from '../domain/errors.ts'
import { gasPaid } from '../domain/fees/fees.ts'
import { laneAddress, type LaneId } from '../domain/lane/lane-id.ts'
import type { ForgottenNonces } from '../domain/lane/lane.ts'
import { callHash } from '../lanes/lane-call.ts'
import type { SendOperatorTransactionInput, SendOperatorTransactionResult } from '../temporal/contracts/operator-transaction.ts'

/** The chain's clock may be so far from Temporal's, ms. */
const clockSlackMs = 10 * 60_000

type Result = Extract<SendOperatorTransactionResult, { kind: 'final' | 'no-slot' | 'lost' }>

/**
 * Was this payment made by a ledger that is gone? Temporal that was restored from a copy has forgotten what was paid since, and nothing but the account's own
 * transactions tells. Looks at the nonces that the ledger did not give and heard of after the order, newest first, back to the time of the order. Undefined: none
 * of them made it. `final`: one did, or an equal one, and it is not made again. Throws NODE_UNAVAILABLE.
 */
export async function findForgotten(
  chain: Chain,
  { lane, intent, orderedAt }: Pick<SendOperatorTransactionInput, 'lane' | 'intent'> & { readonly orderedAt: number },
  forgotten: readonly ForgottenNonces[],
): Promise<Result | undefined> {
  const ranges = forgotten.filter(({ at }) => at >= orderedAt).toReversed()
  if (ranges.length === 0) return undefined
  const address = laneAddress(lane)
  const wanted = callHash(intent)
  try {
    const agreed = await chain.agreedNonce(address)
    for (const { from, to } of ranges) {
      for (let nonce = to - 1; nonce >= from; nonce--) {
        if (agreed <= nonce) return notYet(nonce, 'is not final yet for most nodes')
        const user = await chain.mined(address, nonce)
        if (!user) return lost(nonce, lane)
        if (callHash(user.call) === wanted) return await paidBy(chain, nonce, user.hash)
        if (await isBefore(chain, user.block.height, orderedAt)) return undefined
      }
    }
    return undefined
  } catch (error) {
    const { code, message } = toRelayerError(error)
    if (code !== 'NODES_DISAGREE') throw error
    return { kind: 'no-slot', code, reason: message }
  }
}

async function paidBy(chain: Chain, nonce: number, hash: string): Promise<Result> {
  const receipt = await chain.receipt(hash, 'agreed')
  if (!receipt) return notYet(nonce, 'has no receipt yet for most nodes')
  const { height: blockHeight, hash: blockHash } = receipt.block
  return { kind: 'final', nonce, ok: receipt.status === 'success', txHash: hash, blockHeight, blockHash, gasPaid: gasPaid(receipt) }
}

/** Nothing that is older can be this payment. */
async function isBefore(chain: Chain, height: number, orderedAt: number): Promise<boolean> {
  const block = await chain.block(height, 'agreed')
  return block !== undefined && block.timestamp * 1000 < orderedAt - clockSlackMs
}

function notYet(nonce: number, why: string): Result {
  return { kind: 'no-slot', code: 'NONCE_NOT_FINAL', reason: `nonce ${nonce} was given before Temporal was set back, and ${why}` }
}

function lost(nonce: number, lane: LaneId): Result {
  const detail = 'Temporal was set back, and the nodes no longer tell what used this nonce since: it may have been this transaction.'
  return { kind: 'lost', reason: new RelayerError('TRANSACTION_LOST', { detail, facts: { lane, nonce } }).message }
}
