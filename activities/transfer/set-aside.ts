import { type Reserve, withReservation } from '../../bridges/gates/with-reservation.ts'
import type { Receipt } from '../../chains/port.ts'
import { gasPaid } from '../../domain/fees/fees.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { endpointOf, type StepDeps } from '../deps.ts'
import { agreed } from './delivery-checks.ts'

type Deps = Pick<StepDeps, 'bridges' | 'losses'>
type RecordDeps = Deps & Pick<StepDeps, 'lossReports'>
type Waiting = Extract<Stopped, { kind: 'waiting' }>

/** Asked before a nonce is used: earlier deliveries of this token, or to this recipient, have cost gas for nothing. Undefined: it may be sent. */
export function setAside(deps: Deps, transfer: Transfer, retriedAt: number | undefined): Waiting | undefined {
  if (!deps.losses) return undefined
  const now = Date.now()
  const wait = deps.losses.waitOf(partiesOf(deps, transfer), now, retriedAt)
  if (!wait) return undefined
  const reason = `${wait.reason}; tried again at ${new Date(wait.until).toISOString()}`
  return { kind: 'waiting', code: 'QUARANTINED', reason, retryInMs: wait.until - now }
}

/** Whether its delivery shares no call with others: a batch with its recipient reverted lately, or batches of its token have cost too much. */
export function goesAlone(deps: Deps, transfer: Transfer): boolean {
  return deps.losses?.goesAlone(partiesOf(deps, transfer), Date.now()) ?? false
}

/**
 * Counts a call of ours that reverted in a block, final or not, if most nodes deny the effect and the gate of the bridge is open: a pause or a spent budget is
 * no doing of the token or the recipient. Reasons of reverts decide nothing, since strangers write them. Never throws: what cannot be read is not counted.
 * @param shared the call was for others as well: any of them may have made it revert
 */
export async function recordLoss(deps: RecordDeps, transfer: Transfer, receipt: Receipt, shared: boolean): Promise<void> {
  if (!deps.losses || receipt.status !== 'reverted') return
  try {
    const endpoint = endpointOf(deps, transfer)
    const delivered = await agreed(endpoint, transfer, 'agreed-latest')
    if (delivered && shared) deps.losses.explainBatch(receipt.hash)
    if (delivered !== false) return
    const ask = (reserve: Reserve) => reserve(receipt.from)
    const gate = await withReservation(endpoint, transfer, ask, () => false)
    if (gate.kind !== 'open') return
    const loss = { txHash: receipt.hash, paid: BigInt(gasPaid(receipt)), now: Date.now() }
    const parties = partiesOf(deps, transfer)
    const found = shared ? deps.losses.addBatch(parties, loss) : deps.losses.add(parties, loss)
    for (const aside of found) deps.lossReports?.setAside(transfer, receipt.hash, aside)
  } catch (error) {
    // A node is away. The loss is seen again once the call is final.
    deps.lossReports?.uncounted(transfer, receipt.hash, error)
  }
}

function partiesOf(deps: Deps, transfer: Transfer) {
  return { chain: transfer.targetChain, bridge: transfer.bridge, ...endpointOf(deps, transfer).parties(transfer) }
}
