import { untilHead } from '../../chains/heads.ts'
import type { Receipt } from '../../chains/port.ts'
import { costOf } from '../../domain/transfer/attempts.ts'
import type { Confirmation, ConfirmInput, KeylessSteps, Landed } from '../../temporal/contracts/transfer-steps.ts'
import { finalDelivery, isAbsent, isDenied, isFinal, isOurs, unsettled, whyUseless } from '../checks/effect.ts'
import { recordLoss } from '../checks/record-loss.ts'
import type { StepDeps } from '../deps.ts'
import { chainOf, endpointOf } from '../route.ts'

/**
 * Step 5. Most nodes must agree on `reverted` and, with `requireAgreement`, on `gone`. Until they agree, the answer is
 * `unsettled`.
 */
export function createConfirm(deps: StepDeps): KeylessSteps['confirm'] {
  return async (input) => {
    const { transfer, stage, landed } = input
    const own = landed && (await readLanded(deps, input, landed))
    const result = own && own.kind !== 'useless' ? own : await confirmEffect(deps, input, own?.receipt)
    const isPart =
      result.kind === 'delivered' && stage !== undefined && !(await isFinal(chainOf(deps, transfer), endpointOf(deps, transfer), transfer))
    const confirmation = isPart ? { ...result, kind: 'passed' as const } : result
    // After all reads, because a step that fails is tried again.
    if (own && own.kind !== 'unsettled') count(deps, input, own, confirmation)
    return confirmation
  }
}

function count(
  { stepTimes }: StepDeps,
  { transfer, landed, seenAt }: ConfirmInput,
  own: Exclude<OwnTransaction, { kind: 'unsettled' }>,
  { kind }: Confirmation,
): void {
  if (!landed || kind === 'unsettled') return
  if (own.kind === 'useless') {
    if (landed.batch === undefined) stepTimes?.useless(transfer, costOf(landed))
    return
  }
  stepTimes?.reached('final', transfer, landed.includedAt)
  if (!own.delivery.ours) return
  stepTimes?.useful(transfer, costOf(landed))
  if (kind === 'delivered') stepTimes?.delivered(transfer, seenAt)
}

/**
 * Looks for the effect, whichever transaction had it. In a round with a stage, the effect is that of the stage's call.
 * `useless`: receipt of Portage's own transaction, if it is final without the effect.
 */
async function confirmEffect(
  deps: StepDeps,
  { transfer, landed, stage, requireAgreement }: ConfirmInput,
  useless: Receipt | undefined,
): Promise<Confirmation> {
  const chain = chainOf(deps, transfer)
  const endpoint = endpointOf(deps, transfer, { stage })
  const [latest, finalized] = await Promise.all([endpoint.delivered(transfer, 'latest'), endpoint.delivered(transfer, 'finalized')])
  const delivery = finalized ? await finalDelivery(deps, transfer, { stage }) : undefined
  if (delivery) return { kind: 'delivered', delivery }
  // If a node shows the effect, the other nodes get time to show it too, unless most nodes deny the effect.
  if ((latest || finalized) && !(await isDenied(chain, endpoint, transfer))) return unsettled(chain, landed?.blockHeight)
  if ((useless || requireAgreement) && !(await isAbsent(endpoint, transfer))) return unsettled(chain, landed?.blockHeight)
  if (!useless) return { kind: 'gone' }
  await recordLoss({ ...deps, chain }, transfer, useless, { shared: landed?.batch !== undefined, call: { stage }, isUseless: true })
  return { kind: 'reverted', reason: whyUseless(useless) }
}

type OwnTransaction = Extract<Confirmation, { kind: 'delivered' | 'unsettled' }> | { readonly kind: 'useless'; readonly receipt: Receipt }

/** Reads Portage's transaction. Undefined if it is in no block, or has no effect in a block that is not final. */
async function readLanded(deps: StepDeps, { transfer, stage, waitMs }: ConfirmInput, landed: Landed): Promise<OwnTransaction | undefined> {
  const chain = chainOf(deps, transfer)
  const endpoint = endpointOf(deps, transfer, { stage })
  const isFinalHeight = (height: number) => height <= (chain.heads.current?.finalized ?? -1)
  await untilHead(chain.heads, ({ finalized }) => finalized >= landed.blockHeight, waitMs)
  const [receipt, shows] = await Promise.all([
    chain.receipt(landed.txHash),
    isFinalHeight(landed.blockHeight) ? isFinal(chain, endpoint, transfer) : undefined,
  ])
  if (!receipt) return undefined
  const { hash: blockHash, height: blockHeight } = receipt.block
  const hasEffect = endpoint.hasEffect(receipt, transfer)
  if (hasEffect === false) return isFinalHeight(blockHeight) ? { kind: 'useless', receipt } : undefined
  if (hasEffect === undefined && isFinalHeight(blockHeight) && shows === false) return { kind: 'useless', receipt }
  if (!isFinalHeight(blockHeight) || shows !== true) return unsettled(chain, landed.blockHeight)
  const { from: by, hash: txHash } = receipt
  const ours = isOurs(deps, transfer, by)
  return { kind: 'delivered', delivery: { by, ours, txHash, blockHeight, blockHash, gasPaid: landed.gasPaid } }
}
