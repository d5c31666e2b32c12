import { createLossReports, type LossReports } from '../../activities/transfer/loss-reports.ts'
import { signedApis } from '../../bridges/registry.ts'
import { configRules, namesOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { type FeePolicyResolver, resolveFees } from '../../domain/fees/policy.ts'
import { errorCatalogue, knownCode } from '../../domain/catalogue/errors.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import { Losses } from '../../activities/transfer/losses.ts'
import type { HaltRoute, Mismatch } from '../../intake/submit/halt-route.ts'
import { createSubmitter, type Submitter } from '../../intake/submit/submitter.ts'
import { createVaaLookup, type VaaLookup } from '../../intake/submit/vaa-lookup.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { redactText } from '../../observability/redact.ts'
import { createStepTimes, type StepTimes } from '../../observability/step-times.ts'
import { inTrace } from '../../observability/tracing.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { changeSettings } from '../../temporal/client/settings/settings.ts'
import { withEarnings } from './earnings.ts'
import type { Network } from './network.ts'

/** What a process is made of, whatever its role. */
export interface ProcessParts {
  readonly config: Config
  readonly client: TemporalClient
  readonly network: Network
  /** As they are now. */
  readonly settings: () => Settings
  readonly logger: Logger
  readonly metrics: Metrics
}

/** The same with what its roles share. */
export interface ProcessContext extends ProcessParts {
  readonly submitter: Submitter
  readonly haltRoute: HaltRoute
  readonly fees: FeePolicyResolver
  readonly losses: Losses
  readonly lossReports: LossReports
  readonly stepTimes: StepTimes
  /** Of this bridge, one for all that this process does: its limits hold for each server as a whole. */
  readonly vaaLookup: (bridge: string) => VaaLookup
}

/** A part of a process beside its Temporal Workers. It may be stopped twice. */
export interface Service {
  stop(): Promise<void>
}

export function createContext(parts: ProcessParts): ProcessContext {
  const { config, client, network, settings, metrics } = parts
  const { priority, deadlineMinutes, setAsideSeconds, maxLossPerTokenPerHourWei } = config.transfers
  const defaults = { priority, withinMs: deadlineMinutes === undefined ? undefined : deadlineMinutes * 60_000 }
  const stepTimes = withEarnings(createStepTimes(metrics), network.bridges, metrics)
  return {
    ...parts,
    stepTimes,
    vaaLookup: vaaLookups(config),
    submitter: tracedSubmitter(createSubmitter({ bridges: network.bridges, client, settings, defaults, stepTimes })),
    haltRoute: createRouteHalts(parts),
    fees: createFeePolicyResolver(config, settings),
    losses: new Losses({ firstWaitMs: setAsideSeconds * 1_000, tokenBudget: BigInt(maxLossPerTokenPerHourWei) }),
    lossReports: createLossReports(parts),
  }
}

function vaaLookups(config: Config): ProcessContext['vaaLookup'] {
  const lookups = new Map<string, VaaLookup>()
  return (bridge) => {
    const lookup = lookups.get(bridge) ?? createVaaLookup(signedApis(config).get(bridge) ?? { guardianApis: [], wormholescanApis: [] })
    lookups.set(bridge, lookup)
    return lookup
  }
}

/** The trace of a transfer begins where its message comes in, by whichever way. */
function tracedSubmitter({ submit }: Submitter): Submitter {
  return { submit: (name, message, options) => inTrace('submit', { 'portage.bridge': name }, () => submit(name, message, options)) }
}

/** The gas of a call on Arbitrum has the data fee in it, at a price per gas that is a hundredth of Ethereum's. */
const arbitrumGasFactor = 10

/** Resolves fee limits from the config and from the settings as they are now. Gas has a limit in any case: a stranger's token may burn as much as it likes. */
export function createFeePolicyResolver(config: Config, settings: () => Settings): FeePolicyResolver {
  const rules = configRules(config)
  const { maxGas } = config.transfers
  return (about) => {
    const factor = config.chains[about.chain]?.feeModel === 'arbitrum' ? arbitrumGasFactor : 1
    const gasLimit = String(maxGas * factor * (about.deliveries ?? 1))
    return { gasLimit, ...resolveFees([...rules, ...settings().fees], about) }
  }
}

const haltingCodes = Object.entries(errorCatalogue).flatMap(([code, { haltRoute }]) => (haltRoute ? [code] : []))

/** From 0: an alert on the growth of a counter does not see a first value of 1. */
function beginCounting({ portage_bridge_mismatch_total: mismatches }: Metrics, { bridges }: Pick<Network, 'bridges'>): void {
  for (const { sources } of bridges.values())
    for (const source of sources) {
      if (source.kind !== 'scanned') continue
      const route = `${source.bridge}:${source.sourceChain}:${source.targetChain}`
      for (const code of haltingCodes) mismatches.inc({ route, code }, 0)
    }
}

/** Longest reason of a change of the settings (domain/settings/request.ts). */
const longestReason = 500

/** Halts routes in the name of `portage`, with the code in the reason. One order is made for all transfers that find the same contradiction at once. */
function createRouteHalts({ client, config, logger, metrics, network }: ProcessParts): HaltRoute {
  const pending = new Map<string, Promise<void>>()
  beginCounting(metrics, network)
  const order = async ({ bridge, sourceChain, targetChain, code, detail }: Mismatch) => {
    metrics.portage_bridge_mismatch_total.inc({ route: `${bridge}:${sourceChain}:${targetChain}`, code })
    const reason = `${code}: ${redactText(detail)}`.slice(0, longestReason)
    const scope = { bridge, sourceChain, targetChain }
    logger.error('the contracts of a route contradict each other; the route is halted until a person ends it: portage unhalt', {
      code: knownCode(code),
      ...scope,
      reason,
    })
    await changeSettings(client, namesOf(config), { by: 'portage', reason, orders: [{ kind: 'halt', scope }] })
  }
  return (mismatch) => {
    const key = [mismatch.bridge, mismatch.sourceChain, mismatch.targetChain, mismatch.code].join(':')
    const ordered = pending.get(key) ?? order(mismatch).finally(() => pending.delete(key))
    pending.set(key, ordered)
    return ordered
  }
}
