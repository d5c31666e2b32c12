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
  /** ISO 8601 time at which a node showed the balance or, if none did, at which the ledger got it. */
  readonly balanceAt?: string
  readonly tokens?: TokenReading[]
}

/** An active or syncing lane is shown as `chain away` if no node of its chain answers. Throws TEMPORAL_UNAVAILABLE. */
export async function listLanesNow(
  client: TemporalClient,
  config: Pick<Config, 'chains'>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<LaneReading[]> {
  const settings = read(limits.temporalMs, () => readSettings(client))
  const [rows, chains] = await Promise.all([listLanes(client, chainsOfLanes(config)), probeChains({ config, environment }, settings)])
  const byName = new Map(chains.map((chain) => [chain.chain, chain]))
  return rows.map((row) => readingOf(row, row.chain === undefined ? undefined : byName.get(row.chain)))
}

/** The watched tokens of a lane, as the nodes of its chain show them now. Never throws. */
export async function readTokens(
  client: TemporalClient,
  config: Pick<Config, 'chains'>,
  environment: Readonly<Record<string, string | undefined>>,
  lane: LaneId,
): Promise<readonly TokenReading[]> {
  const name = chainsOfLanes(config).get(lane)
  const chain = name === undefined ? undefined : config.chains[name]
  if (name === undefined || !chain?.watchTokens) return []
  const settings = read(limits.temporalMs, () => readSettings(client))
  const [facts] = await probeChains({ config: { chains: { [name]: chain } }, environment }, settings)
  return tokensOf(facts, laneAddress(lane))
}

export function readingOf(report: LaneReport, chain: ChainFacts | undefined): LaneReading {
  const tokens = tokensOf(chain, laneAddress(report.lane))
  const row = { ...report, ...(tokens.length > 0 && { tokens }) }
  const known = row.balance !== undefined && row.observedAt !== undefined ? { balanceAt: row.observedAt } : {}
  const readAt = (chain?.nodes ?? []).flatMap(({ head }) => (head && valueOf(head) ? [head.asOf] : []))
  const balance = chain?.balances.get(laneAddress(row.lane))
  if (balance !== undefined && readAt.length > 0) return { ...row, balance, balanceAt: new Date(Math.max(...readAt)).toISOString() }
  // A closed lane keeps its status, because no node's answer can open it again.
  if (!chain || readAt.length > 0 || (row.status !== 'active' && row.status !== 'syncing')) return { ...row, ...known }
  return { ...row, ...known, status: 'chain away', reason: `no node of ${chain.chain} answers` }
}
