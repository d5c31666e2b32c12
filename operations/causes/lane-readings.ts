import { chainsOfLanes } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { laneAddress } from '../../domain/lane/lane-id.ts'
import { type LaneReport, listLanes } from '../../lanes/reports.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { readSettings } from '../../temporal/client/settings/settings.ts'
import type { ChainFacts } from './facts.ts'
import { probeChains } from './probe-chain.ts'
import { limits, read, valueOf } from './read.ts'

/** A lane with the balance that a node shows now. */
export interface LaneReading extends LaneReport {
  /** When `balance` was read, ISO 8601: by a node just now, or, where none answers, by the ledger's last reading. */
  readonly balanceAt?: string
}

/** As `listLanes`, beside a look at the chains: a lane whose chain does not answer is not shown as active by an old reading. Throws TEMPORAL_UNAVAILABLE. */
export async function listLanesNow(
  client: TemporalClient,
  config: Pick<Config, 'chains'>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<LaneReading[]> {
  const [rows, chains] = await Promise.all([
    listLanes(client, chainsOfLanes(config)),
    probeChains(
      { config, environment },
      read(limits.temporalMs, () => readSettings(client)),
    ),
  ])
  return rows.map((row) =>
    readingOf(
      row,
      chains.find(({ chain }) => chain === row.chain),
    ),
  )
}

/** @param chain as its nodes showed it just now; undefined: it is not in the config */
export function readingOf(row: LaneReport, chain: ChainFacts | undefined): LaneReading {
  const told = row.balance !== undefined && row.observedAt !== undefined ? { balanceAt: row.observedAt } : {}
  const heads = (chain?.nodes ?? []).flatMap(({ head }) => (head && valueOf(head) ? [head.asOf] : []))
  const balance = chain?.balances.get(laneAddress(row.lane))
  if (balance !== undefined && heads.length > 0) return { ...row, balance, balanceAt: new Date(Math.max(...heads)).toISOString() }
  if (!chain || heads.length > 0) return { ...row, ...told }
  const reason = `no node of ${chain.chain} answers`
  // What closes the lane is said first: it stays closed when the node is back.
  return row.status === 'active' || row.status === 'syncing' ? { ...row, ...told, status: 'chain away', reason } : { ...row, ...told }
}
