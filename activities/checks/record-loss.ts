import type { Chain, Receipt } from '../../chains/port.ts'
import { gasPaid } from '../../domain/fees/fees.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { RoundCall, StepDeps } from '../deps.ts'
import { endpointOf } from '../route.ts'
import { agreed } from './effect.ts'

/**
 * Records a call without effect as a loss. Reads of the chain decide whether the loss counts, because strangers can
 * write the revert's text. Never throws.
 */
export async function recordLoss(
  deps: Pick<StepDeps, 'bridges' | 'losses'> & { readonly chain: Pick<Chain, 'hasCode'> },
  transfer: Transfer,
  receipt: Receipt,
  {
    shared,
    call,
    isUseless = receipt.status === 'reverted',
  }: { readonly shared: boolean; readonly call?: RoundCall; readonly isUseless?: boolean },
): Promise<void> {
  if (!deps.losses || !isUseless) return
  try {
    const endpoint = endpointOf(deps, transfer, call)
    const { parties } = endpoint.delivery(transfer)
    const loss = { txHash: receipt.hash, paid: BigInt(gasPaid(receipt)), now: performance.now() }
    const delivered = await agreed(endpoint, transfer, 'agreed-latest')
    if (delivered && shared) deps.losses.explainBatch(receipt.hash)
    if (delivered) deps.losses.addOutrun(parties, loss)
    if (delivered !== false) return
    const gate = await endpoint.reserve?.(transfer, receipt.from)
    endpoint.release?.(transfer)
    if (gate && gate.kind !== 'open') return
    const isContract = !shared && (await deps.chain.hasCode(parties.recipient, receipt.block.height))
    const found = shared ? deps.losses.addBatch(parties, loss) : deps.losses.add(parties, loss, isContract)
    for (const quarantine of found) deps.losses.reports?.quarantined(transfer, receipt.hash, quarantine)
  } catch (error) {
    // If the transfer waits until the call is final, the loss is counted then.
    deps.losses.reports?.uncounted(transfer, receipt.hash, error)
  }
}
