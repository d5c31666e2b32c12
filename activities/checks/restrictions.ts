import type { Endpoint, Parties } from '../../bridges/port.ts'
import type { Chain, Receipt } from '../../chains/port.ts'
import { gasPaid } from '../../domain/fees/fees.ts'
import { laneAddress, type LaneId } from '../../domain/lane/lane.ts'
import { denialOf } from '../../domain/settings/settings.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { BroadcastResult, Stopped, Waiting } from '../../temporal/contracts/transfer-steps.ts'
import type { RoundCall, StepDeps } from '../deps.ts'
import { endpointOf, haltedBy } from '../route.ts'
import { agreed } from './effect.ts'
import { quarantineOf } from './losses.ts'

type Deps = Pick<StepDeps, 'settings' | 'bridges' | 'losses'>
type ChainDeps = Pick<StepDeps, 'losses'> & { readonly chain: Pick<Chain, 'hasCode'> }
export type Rejection = Extract<Stopped, { kind: 'rejected' | 'declined' }>
export type NoSlot = Extract<BroadcastResult, { kind: 'no-slot' }>

export interface Admitted {
  readonly transfer: Transfer
  readonly parties: Parties
  /** Time of an operator's last retry, ms since the epoch. Earlier losses do not quarantine the transfer. */
  readonly retriedAt?: number | undefined
  readonly seenAt?: number | undefined
  /** True if the call runs no code of the recipient (`PlannedDelivery.call`), so earlier reverts do not matter. */
  readonly isWrapped?: boolean
}

export async function restrictionOf(
  deps: Deps & ChainDeps,
  endpoint: Endpoint,
  admitted: Admitted,
  lane: LaneId,
): Promise<NoSlot | undefined> {
  const { transfer, parties, isWrapped } = admitted
  const policy = haltedBy(deps, transfer) ?? denialOf(deps.settings(), parties) ?? yieldToOthers(deps, admitted)
  const known = policy ?? (isWrapped ? undefined : await quarantineOf(deps, admitted))
  const gate = known ?? (await endpoint.reserve?.(transfer, laneAddress(lane))) ?? { kind: 'open' }
  if (gate.kind === 'open') return undefined
  endpoint.release?.(transfer)
  // Another process, which does not know these losses, may admit the transfer. `retryInMs` makes the transfer wait.
  const again = known?.kind === 'waiting' && known.code !== 'HALTED' ? { retryInMs: known.retryInMs } : {}
  return { kind: 'no-slot', code: gate.code, reason: gate.reason, ...again }
}

function yieldToOthers({ losses }: Deps, { parties, seenAt, retriedAt }: Admitted): Waiting | undefined {
  return seenAt === undefined || retriedAt !== undefined ? undefined : losses?.waitForOthers(parties, seenAt)
}

/** Counts a loss, unless by a closed gate. Strangers write revert texts, so no text decides. Never throws. */
export async function recordLoss(
  deps: Deps & ChainDeps,
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
    const loss = { txHash: receipt.hash, paid: BigInt(gasPaid(receipt)), now: Date.now() }
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
    // The loss is counted when the call is final.
    deps.losses.reports?.uncounted(transfer, receipt.hash, error)
  }
}
