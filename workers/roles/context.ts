import { routesDigest } from '../../config/build-id.ts'
import { feeDefaults, namesOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { createFeePolicyResolver, type FeePolicyResolver } from '../../domain/fees/fees.ts'
import { errorCatalogue, knownCode } from '../../domain/catalogue/errors.ts'
import { orderLimits } from '../../domain/order.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import { createLossReports, Losses } from '../../activities/checks/losses.ts'
import type { HaltRoute, Mismatch } from '../../intake/submit/halt-route.ts'
import { createSubmitter, type Submitter } from '../../intake/submit/submitter.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { redactText } from '../../observability/redact.ts'
import { createStepTimes, type StepTimes } from '../../observability/step-times.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { changeSettings } from '../../temporal/client/settings/settings.ts'
import type { Bridges } from '../../bridges/port.ts'
import type { Network } from './network.ts'

export interface ProcessParts {
  readonly config: Config
  readonly client: TemporalClient
  readonly network: Network
  readonly settings: () => Settings
  readonly logger: Logger
  readonly metrics: Metrics
}

export interface ProcessContext extends ProcessParts {
  readonly submitter: Submitter
  readonly haltRoute: HaltRoute
  readonly fees: FeePolicyResolver
  readonly losses: Losses
  readonly stepTimes: StepTimes
  /** `routesDigest` of the config. */
  readonly routes: string
}

export function createContext(parts: ProcessParts): ProcessContext {
  const { config, client, network, settings, metrics } = parts
  const { priority, deadlineMinutes, quarantineSeconds, maxLossPerTokenPerHourWei } = config.transfers
  const routes = routesDigest(config)
  const defaults = { priority, withinMs: deadlineMinutes === undefined ? undefined : deadlineMinutes * 60_000, routes }
  const stepTimes = withEarnings(createStepTimes(metrics), network.bridges, metrics)
  return {
    ...parts,
    stepTimes,
    routes,
    submitter: createSubmitter({ bridges: network.bridges, client, settings, defaults, stepTimes }),
    haltRoute: createRouteHalts(parts),
    fees: createFeePolicyResolver(feeDefaults(config), settings),
    losses: new Losses(quarantineSeconds * 1_000, BigInt(maxLossPerTokenPerHourWei), createLossReports(parts)),
  }
}

const haltingCodes = Object.entries(errorCatalogue).flatMap(([code, { haltRoute }]) => (haltRoute ? [code] : []))

function createRouteHalts({ client, config, logger, metrics, network }: ProcessParts): HaltRoute {
  const { portage_bridge_mismatch_total: mismatches } = metrics
  const routeOf = ({ bridge, sourceChain, targetChain }: Pick<Mismatch, 'bridge' | 'sourceChain' | 'targetChain'>) =>
    [bridge, sourceChain, targetChain].join(':')
  const sources = [...network.bridges.values()].flatMap((bridge) => bridge.sources)
  for (const source of sources.filter((one) => one.kind === 'scanned'))
    for (const code of haltingCodes) mismatches.inc({ route: routeOf(source), code }, 0)
  const pending = new Map<string, Promise<void>>()
  const order = async (mismatch: Mismatch) => {
    const { bridge, sourceChain, targetChain, code, detail } = mismatch
    mismatches.inc({ route: routeOf(mismatch), code })
    const reason = `${code}: ${redactText(detail)}`.slice(0, orderLimits.reason)
    const scope = { bridge, sourceChain, targetChain }
    logger.error('the contracts of a route contradict each other; the route is halted until a person ends it: portage unhalt', {
      code: knownCode(code),
      ...scope,
      reason,
    })
    await changeSettings(client, namesOf(config), { by: 'portage', reason, orders: [{ kind: 'halt', scope }] })
  }
  return (mismatch) => {
    const key = `${routeOf(mismatch)}:${mismatch.code}`
    const ordered = pending.get(key) ?? order(mismatch).finally(() => pending.delete(key))
    pending.set(key, ordered)
    return ordered
  }
}

export function withEarnings(
  times: StepTimes,
  bridges: Pick<Bridges, 'get'>,
  metrics: Pick<Metrics, 'portage_fees_earned_wei_total'>,
): StepTimes {
  async function worthOf(transfer: Transfer): Promise<bigint> {
    const { earned, payment, intent } = bridges.get(transfer.bridge)?.endpoints.get(transfer.targetChain)?.delivery(transfer) ?? {}
    if (payment) return BigInt(payment.worth)
    const rest = await earned?.()
    // The cost of deliveries counts the coins of the call, so they are no part of the fee here.
    return rest === undefined ? 0n : rest + BigInt(intent?.value ?? 0)
  }
  async function count(transfer: Transfer, fee: string | undefined): Promise<void> {
    const { bridge, targetChain: chain } = transfer
    const wei = fee === undefined ? await worthOf(transfer) : BigInt(fee)
    if (wei > 0n) metrics.portage_fees_earned_wei_total.inc({ chain, bridge }, Number(wei))
  }
  return {
    ...times,
    delivered(transfer, seenAt, fee) {
      times.delivered(transfer, seenAt)
      // A failed metric must not fail a delivery.
      void count(transfer, fee).catch(() => {})
    },
  }
}
