import { type Reserve, withReservation } from '../../bridges/gates/with-reservation.ts'
import type { Receipt } from '../../chains/port.ts'
import { gasPaid } from '../../domain/fees/fees.ts'
import type { Quarantine } from './losses.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { problemOf } from '../../observability/severity.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { Stopped } from '../../temporal/contracts/transfer-steps.ts'
import { endpointOf, type StepDeps } from '../deps.ts'
import { agreed } from './effect.ts'

type Deps = Pick<StepDeps, 'bridges' | 'losses'>
type Waiting = Extract<Stopped, { kind: 'waiting' }>

/** A token or recipient whose deliveries cost gas for nothing waits. Undefined: the transfer may be sent. */
export function quarantineOf(deps: Deps, transfer: Transfer, retriedAt: number | undefined): Waiting | undefined {
  if (!deps.losses) return undefined
  const now = Date.now()
  const wait = deps.losses.waitOf(partiesOf(deps, transfer), now, retriedAt)
  if (!wait) return undefined
  const reason = `${wait.reason}; tried again at ${new Date(wait.until).toISOString()}`
  return { kind: 'waiting', code: 'QUARANTINED', reason, retryInMs: wait.until - now }
}

/** Must this transfer have a call of its own? Batches with its recipient or token reverted lately. */
export function goesAlone(deps: Deps, transfer: Transfer): boolean {
  return deps.losses?.goesAlone(partiesOf(deps, transfer), Date.now()) ?? false
}

/**
 * Counts a call that reverted in a block, final or not, if most nodes deny the effect and the bridge's gate is open: a
 * pause or a spent budget is nobody's fault. Ignores texts of reverts, since strangers write them. Never throws.
 * @param shared the call carried other transfers too: any of them may have made it revert
 */
export async function recordLoss(
  deps: Deps & Pick<StepDeps, 'lossReports'>,
  transfer: Transfer,
  receipt: Receipt,
  shared: boolean,
): Promise<void> {
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
    for (const quarantine of found) deps.lossReports?.quarantined(transfer, receipt.hash, quarantine)
  } catch (error) {
    // A node is away. The loss is counted once the call is final.
    deps.lossReports?.uncounted(transfer, receipt.hash, error)
  }
}

export type LossReports = ReturnType<typeof createLossReports>

const messages: Readonly<Record<Quarantine['kind'], string>> = {
  recipient: 'a recipient is quarantined',
  token: 'a token is quarantined',
  batch: 'transfers have calls of their own for a while, since a batch with them reverted',
}

export function createLossReports({ logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics }) {
  return {
    quarantined(transfer: Transfer, txHash: string, { kind, until, reason }: Quarantine): void {
      metrics.portage_quarantines_total.inc({ chain: transfer.targetChain, kind })
      const facts = { transfer: transferId(transfer), txHash, reason, until: new Date(until).toISOString() }
      logger.warn(messages[kind], { code: 'QUARANTINED', ...facts })
    },
    /** Reads failed. The loss is counted if it is found again. */
    uncounted(transfer: Transfer, txHash: string, error: unknown): void {
      logger.warn('a loss is not counted yet, since reads failed', { transfer: transferId(transfer), txHash, ...problemOf(error) })
    },
  }
}

function partiesOf(deps: Deps, transfer: Transfer) {
  return { chain: transfer.targetChain, bridge: transfer.bridge, ...endpointOf(deps, transfer).parties(transfer) }
}
