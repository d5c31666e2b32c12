import { chainsOfLanes } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { laneAddress, type LaneId } from '../../domain/lane/lane.ts'
import type { TokenReading } from '../../domain/lane/tokens.ts'
import { type LaneReport, listLanes } from '../../lanes/reports.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { readSettings } from '../../temporal/client/settings/settings.ts'
import { type ChainFacts, tokensOf, valueOf } from './facts.ts'
import { limits, read } from './read.ts'
import { probeChains } from './probe-chain.ts'

export interface LaneReading extends LaneReport {
  /** When a node showed the balance or, if none did, when the ledger got it. ISO 8601. */
  readonly balanceAt?: string
  readonly tokens?: TokenReading[]
}

type Environment = Readonly<Record<string, string | undefined>>

/** If no node of its chain answers, an active or syncing lane is `chain away`. Throws TEMPORAL_UNAVAILABLE. */
export async function listLanesNow(client: TemporalClient, config: Pick<Config, 'chains'>, env: Environment): Promise<LaneReading[]> {
  const [rows, chains] = await Promise.all([listLanes(client, chainsOfLanes(config)), probeNow(client, config, env)])
  const chainOf = (row: LaneReport) => chains.find(({ chain }) => chain === row.chain)
  return rows.map((row) => readingOf(row, chainOf(row)))
}

/** Never throws. */
export async function readTokens(
  client: TemporalClient,
  config: Pick<Config, 'chains'>,
  env: Environment,
  lane: LaneId,
): Promise<readonly TokenReading[]> {
  const name = chainsOfLanes(config).get(lane)
  const chain = name === undefined ? undefined : config.chains[name]
  if (name === undefined || !chain?.watchTokens) return []
  const [facts] = await probeNow(client, { chains: { [name]: chain } }, env)
  return tokensOf(facts, laneAddress(lane))
}

function probeNow(client: TemporalClient, config: Pick<Config, 'chains'>, environment: Environment): Promise<ChainFacts[]> {
  const settings = read(limits.temporalMs, () => readSettings(client))
  return probeChains({ config, environment }, settings)
}

export function readingOf(report: LaneReport, chain: ChainFacts | undefined): LaneReading {
  const tokens = tokensOf(chain, laneAddress(report.lane))
  const row = { ...report, ...(tokens.length > 0 && { tokens }) }
  const readAt = (chain?.nodes ?? []).flatMap(({ head }) => (head && valueOf(head) ? [head.asOf] : []))
  const balance = chain?.balances.get(laneAddress(row.lane))
  if (balance !== undefined && readAt.length > 0) return { ...row, balance, balanceAt: new Date(Math.max(...readAt)).toISOString() }
  const ofLedger = { ...row, ...(row.balance !== undefined && row.observedAt !== undefined && { balanceAt: row.observedAt }) }
  // The status of a lane that takes no work does not depend on nodes.
  if (!chain || readAt.length > 0 || (row.status !== 'active' && row.status !== 'syncing')) return ofLedger
  return { ...ofLedger, status: 'chain away', reason: `no node of ${chain.chain} answers` }
}
