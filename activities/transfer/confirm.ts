import { untilHead } from '../../chains/heads.ts'
import type { Receipt } from '../../chains/port.ts'
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
    const { transfer, stage } = input
    const result = await confirmCall(deps, input)
    if (result.kind !== 'delivered' || stage === undefined) return result
    const isWhole = await isFinal(chainOf(deps, transfer), endpointOf(deps, transfer), transfer)
    return isWhole ? result : { ...result, kind: 'passed' }
  }
}

/** In a round with a stage, the effect is that of the stage's call. */
async function confirmCall(deps: StepDeps, input: ConfirmInput): Promise<Confirmation> {
  const { transfer, landed, stage, requireAgreement } = input
  const chain = chainOf(deps, transfer)
  const endpoint = endpointOf(deps, transfer, { stage })
  const own = landed && (await readLanded(deps, input, landed))
  if (own && own.kind !== 'useless') return own
  const [latest, finalized] = await Promise.all([endpoint.delivered(transfer, 'latest'), endpoint.delivered(transfer, 'finalized')])
  const delivery = finalized ? await finalDelivery(deps, transfer, { stage }) : undefined
  const countUseless = () => {
    if (own && landed && landed.batch === undefined) deps.stepTimes?.useless(transfer, landed.gasPaid)
  }
  if (delivery) {
    countUseless()
    return { kind: 'delivered', delivery }
  }
  // If a node shows the effect, the other nodes get time to show it too, unless most nodes deny the effect.
  if ((latest || finalized) && !(await isDenied(chain, endpoint, transfer))) return unsettled(chain, landed?.blockHeight)
  if ((own || requireAgreement) && !(await isAbsent(endpoint, transfer))) return unsettled(chain, landed?.blockHeight)
  if (!own) return { kind: 'gone' }
  const { receipt } = own
  countUseless()
  await recordLoss({ ...deps, chain }, transfer, receipt, { shared: landed?.batch !== undefined, call: { stage }, isUseless: true })
  return { kind: 'reverted', reason: whyUseless(receipt) }
}

type OwnTransaction = Extract<Confirmation, { kind: 'delivered' | 'unsettled' }> | { readonly kind: 'useless'; readonly receipt: Receipt }

/** Reads Portage's transaction. Undefined if it is in no block, or has no effect in a block that is not final. */
async function readLanded(
  deps: StepDeps,
  { transfer, stage, waitMs, seenAt }: ConfirmInput,
  landed: Landed,
): Promise<OwnTransaction | undefined> {
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
  deps.stepTimes?.reached('final', transfer, landed.includedAt)
  if (ours) deps.stepTimes?.delivered(transfer, seenAt, landed.gasPaid)
  return { kind: 'delivered', delivery: { by, ours, txHash, blockHeight, blockHash, gasPaid: landed.gasPaid } }
}
