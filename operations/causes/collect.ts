import type { PriceOf } from '../../bridges/port.ts'
import { spySources } from '../../bridges/configured-emitters.ts'
import type { z } from 'zod'
import type { Config } from '../../config/schema/schema.ts'
import { type Cause, isStuck } from '../../domain/catalogue/cause.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { SpyHealth } from '../../intake/spy/spy.ts'
import { createSpyClient, type SpyTarget } from '../../intake/spy/spy-subscription.ts'
import { redactText } from '../../observability/redact.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { readSettings } from '../../temporal/client/settings/settings.ts'
import { explain } from './explain.ts'
import type { Read, SpyFacts } from './facts.ts'
import { limits, read } from './read.ts'
import { probeQuotes } from './probe-quotes.ts'
import { probeChains } from './probe-chain.ts'
import type { causeReportSchema } from './schema.ts'
import { readTemporal, temporalProblem, withoutTemporal } from './read-temporal.ts'

export interface CausesOptions {
  readonly config: Pick<Config, 'chains' | 'bridges' | 'notifications' | 'priceFeed' | 'streams' | 'worker'>
  readonly environment: Readonly<Record<string, string | undefined>>
  /** This process's subscriptions. Other spies are probed over a new connection. */
  readonly spies?: (() => readonly SpyHealth[]) | undefined
  /** The price feed of this process, if the process quotes. Absent: the sources are asked again. */
  readonly priceOf?: PriceOf | undefined
}

export interface CauseReport extends Omit<z.infer<typeof causeReportSchema>, 'causes'> {
  readonly causes: readonly Cause[]
}

/**
 * Collects the facts and explains them. `temporal`: the client, or the error of the failed connection. Never throws.
 */
export async function collectCauses(temporal: TemporalClient | RelayerError, options: CausesOptions): Promise<CauseReport> {
  const { config } = options
  const at = Date.now()
  const answering =
    temporal instanceof RelayerError ? Promise.resolve(temporal) : temporalProblem(temporal).then((problem) => problem ?? temporal)
  const settings = answering.then((client): Promise<Read<Settings>> | Read<Settings> =>
    client instanceof RelayerError ? { asOf: Date.now(), error: client } : read(limits.temporalMs + 500, () => readSettings(client)),
  )
  const [facts, chains, spies, quotes] = await Promise.all([
    answering.then((client) => (client instanceof RelayerError ? withoutTemporal(client) : readTemporal(client, config, settings))),
    probeChains(options, settings),
    probeSpies(config, options.spies),
    probeQuotes(options),
  ])
  const causes = explain({ at: Date.now(), ...facts, chains, spies, quotes }, config)
  return { asOf: new Date(at).toISOString(), stuck: isStuck(causes), causes }
}

function probeSpies(config: Pick<Config, 'chains' | 'bridges'>, own: (() => readonly SpyHealth[]) | undefined): Promise<SpyFacts[]> {
  const healths = own?.() ?? []
  return Promise.all(
    spySources(config).map(async ({ address, tls, bridge }): Promise<SpyFacts> => {
      const health = healths.find((one) => one.address === address)
      const reach = () => reachSpy({ address, tls }, limits.spyMs).catch(() => 'it cannot be reached from here')
      const problem = health ? problemOf(health) : await reach()
      const { kept = 0, unknownSets = 0 } = health ?? {}
      return { address, bridge, kept, unknownSets, ...(problem !== undefined && { problem: redactText(problem) }), asOf: Date.now() }
    }),
  )
}

function problemOf({ connected, paused, problem, kept }: SpyHealth): string | undefined {
  if (paused) return `it is not read: ${kept} of its messages wait`
  return connected ? undefined : (problem ?? 'not connected yet')
}

/** Only connects, because a subscription would take one of the spy's places. Throws SPY_UNAVAILABLE. */
export async function reachSpy(target: SpyTarget, withinMs: number): Promise<undefined> {
  let client: ReturnType<typeof createSpyClient> | undefined
  try {
    const opened = (client = createSpyClient(target))
    await new Promise<void>((resolve, reject) => {
      opened.waitForReady(Date.now() + withinMs, (error) => (error ? reject(error) : resolve()))
    })
  } catch (cause) {
    throw new RelayerError('SPY_UNAVAILABLE', { facts: { address: target.address }, cause })
  } finally {
    client?.close()
  }
}
