import { untilHead } from '../../chains/heads.ts'
import type { Receipt } from '../../chains/port.ts'
import type { Delivery } from '../../domain/transfer/transfer.ts'
import type { Confirmation, KeylessSteps } from '../../temporal/contracts/transfer-steps.ts'
import { chainOf, endpointOf, type StepDeps } from '../deps.ts'
import { isAbsent, isDenied, isFinal, finalDelivery, isOurs } from './delivery-checks.ts'
import { recordLoss } from './set-aside.ts'

/**
 * Step 5: does the target chain's finalized state show the effect? Irreversible answers (delivered, reverted, and gone where that ends the transfer)
 * need the agreement of the nodes; until they agree the answer is `unsettled`.
 */
export function createConfirm(deps: StepDeps): KeylessSteps['confirm'] {
  return async ({ transfer, landed, waitMs, requireAgreement, seenAt }) => {
    const chain = chainOf(deps, transfer)
    const endpoint = endpointOf(deps, transfer)
    const final = (height: number) => height <= (chain.heads.current?.finalized ?? -1)
    const unsettled = (): Confirmation => ({
      kind: 'unsettled',
      finalInMs: Math.max(chain.blockTimeMs, chain.msToFinality(landed?.blockHeight ?? chain.heads.current?.latest.height ?? 0)),
    })
    let useless: string | undefined
    let lost: Receipt | undefined
    if (landed) {
      await untilHead(chain.heads, ({ finalized }) => finalized >= landed.blockHeight, waitMs)
      const [receipt, shows] = await Promise.all([
        chain.receipt(landed.txHash),
        final(landed.blockHeight) ? isFinal(chain, endpoint, transfer) : undefined,
      ])
      if (receipt && endpoint.hasEffect(receipt, transfer)) {
        if (!final(receipt.block.height) || shows !== true) return unsettled()
        const { hash: blockHash, height: blockHeight } = receipt.block
        const ours = isOurs(deps, transfer, receipt.from)
        deps.stepTimes?.reached('final', transfer, landed.includedAt)
        if (ours) deps.stepTimes?.delivered(transfer, seenAt)
        const delivery: Delivery = { by: receipt.from, ours, txHash: receipt.hash, blockHeight, blockHash, gasPaid: landed.gasPaid }
        return { kind: 'delivered', delivery }
      }
      if (receipt && final(receipt.block.height)) {
        lost = receipt
        useless = `transaction ${receipt.hash} ${receipt.status === 'reverted' ? 'reverted' : 'had not the effect'}`
      }
    }
    const [latest, finalized] = await Promise.all([endpoint.delivered(transfer, 'latest'), endpoint.delivered(transfer, 'finalized')])
    if (finalized) {
      const delivery = await finalDelivery(deps, transfer)
      if (delivery) return { kind: 'delivered', delivery }
    }
    // It waits until the other nodes have seen it, but not for ever on the word of one.
    if ((latest || finalized) && !(await isDenied(chain, endpoint, transfer))) return unsettled()
    if ((useless !== undefined || requireAgreement) && !(await isAbsent(chain, endpoint, transfer))) return unsettled()
    if (lost) await recordLoss(deps, transfer, lost, landed?.batch !== undefined)
    return useless === undefined ? { kind: 'gone' } : { kind: 'reverted', reason: useless }
  }
}
