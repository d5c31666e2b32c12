import type { Bridge, Endpoint, Parties } from '../bridges/port.ts'
import type { Chain } from '../chains/port.ts'
import { laneAddress, type LaneId } from '../domain/lane/lane.ts'
import { denialOf, haltedMs, haltOf } from '../domain/settings/settings.ts'
import { type ChainName, ofChain, type Transfer, type TransferRoute } from '../domain/transfer/transfer.ts'
import type { LaneStatusCache } from '../lanes/ledger/open-lanes.ts'
import { ageOf, pastByOtherClock } from '../runtime/moment.ts'
import type { BroadcastResult, Waiting } from '../temporal/contracts/transfer-steps.ts'
import { quarantineOf } from './checks/losses.ts'
import type { RoundCall, StepDeps } from './deps.ts'

const otherConfigMs = 5 * 60_000
/** Time after its start in which a process with another config does not refuse a transfer, ms. */
const otherConfigForMs = 86_400_000

/**
 * The endpoint of a transfer's target. In a round with a stage or a plan, the call and the effects come from the stage
 * or the plan. Throws TARGET_CHAIN_UNSUPPORTED.
 */
export function endpointOf({ bridges }: Pick<StepDeps, 'bridges'>, transfer: Transfer, { stage, plan }: RoundCall = {}): Endpoint {
  const { bridge, targetChain: chain } = transfer
  const own = ofChain(bridges.get(bridge)?.endpoints, { bridge, chain })
  const endpoint = (plan && own.planned?.(plan)) ?? own
  const { stages } = endpoint
  if (!stages || stage === undefined) return endpoint
  return {
    ...endpoint,
    delivery: (one) => endpoint.delivery(one, stage),
    delivered: (one, at) => stages.passed(one, stage, at),
    findDelivery: async () => undefined,
  }
}

export function chainOf({ chains }: Pick<StepDeps, 'chains'>, { targetChain: chain }: Transfer): Chain {
  return ofChain(chains, { chain })
}

export function lanesOf({ lanes }: Pick<StepDeps, 'lanes'>, { targetChain: chain }: Pick<Transfer, 'targetChain'>): LaneStatusCache {
  return ofChain(lanes, { chain })
}

export function haltedBy(deps: Pick<StepDeps, 'settings' | 'bridges'>, transfer: Transfer): Waiting | undefined {
  const { halts } = deps.settings()
  const isOfSource = halts.some(({ scope: { chain, sourceChain } }) => (chain ?? sourceChain) !== undefined)
  const own = isOfSource ? { ...transfer, sourceChain: sourceOf(deps, transfer) } : transfer
  const routes = halts.length > 0 ? [own, ...routesWithin(deps, transfer)] : []
  const [halt] = routes.flatMap((route) => haltOf({ halts }, route) ?? [])
  return halt && { kind: 'waiting', code: 'HALTED', reason: `halted by ${halt.by}: ${halt.reason}`, retryInMs: haltedMs }
}

/**
 * A wait if a process with another config has started the transfer in the last day: the other config may have a route,
 * fee or cap that this process lacks. Undefined if this process may refuse the transfer.
 */
export function underOtherConfig(
  { routes: own }: Pick<StepDeps, 'routes'>,
  { startedUnder: other }: Transfer,
  reason: string,
): Waiting | undefined {
  const isOther = own !== undefined && other !== undefined && own !== other.routes
  // Anyone with access to Temporal can write a time in the future.
  if (!isOther || Math.abs(Date.now() - other.at) > otherConfigForMs) return undefined
  return { kind: 'waiting', code: 'CONFIG_DIFFERS', reason, retryInMs: otherConfigMs, unverified: true }
}

/** The transfer's source, from the message, because anyone with access to Temporal can write `transfer.sourceChain`. */
export function sourceOf(deps: Pick<StepDeps, 'bridges'>, transfer: Transfer): ChainName {
  return readMessage(deps, transfer, (bridge, bytes) => bridge.decode(bytes).sourceChain) ?? transfer.sourceChain
}

function routesWithin(deps: Pick<StepDeps, 'bridges'>, transfer: Transfer): readonly TransferRoute[] {
  const routes = readMessage(deps, transfer, (bridge, bytes) => bridge.within?.(bytes)) ?? []
  return routes.map((route) => ({ ...route, targetChain: transfer.targetChain }))
}

/**
 * Reads the transfer's message. Undefined if it cannot be decoded, which does no harm, because no key signs a call with
 * such a message.
 */
function readMessage<T>(
  { bridges }: Pick<StepDeps, 'bridges'>,
  { bridge: name, message }: Transfer,
  read: (bridge: Bridge, bytes: Uint8Array) => T,
): T | undefined {
  const bridge = bridges.get(name)
  try {
    return bridge && read(bridge, Buffer.from(message, 'base64'))
  } catch {
    return undefined
  }
}

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
  deps: Pick<StepDeps, 'settings' | 'bridges' | 'losses'> & { readonly chain: Pick<Chain, 'hasCode'> },
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
  // Without `retryInMs`, a process that does not know these losses could admit the transfer immediately.
  const again = known?.kind === 'waiting' && known.code !== 'HALTED' ? { retryInMs: known.retryInMs } : {}
  return { kind: 'no-slot', code: gate.code, reason: gate.reason, ...again }
}

function yieldToOthers({ losses }: Pick<StepDeps, 'losses'>, { parties, seenAt, retriedAt }: Admitted): Waiting | undefined {
  if (seenAt === undefined || retriedAt !== undefined) return undefined
  return losses?.waitForOthers(parties, ageOf(pastByOtherClock(seenAt)))
}
