import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Code } from '../../domain/catalogue/catalogue.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { type Finding, recover } from '../../temporal/recovery/remedies.ts'
import { findStuckTransfers } from '../../temporal/recovery/stuck-transfers.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { type ClosedPage, latestRun, listClosedPage } from '../../temporal/client/transfers/closed-runs.ts'
import type { RunId } from '../../temporal/client/visibility/runs.ts'
import { isForAll } from '../../temporal/client/connection/errors.ts'
import { readableTransfer } from '../../temporal/client/transfers/start-transfer.ts'
import type { AuditInput, AuditReport, AuditSteps } from '../../temporal/contracts/audit.ts'
import type { StepDeps } from '../deps.ts'
import { chainOf, endpointOf } from '../route.ts'
import { mapLimited } from '../../runtime/map-limited.ts'
import { agreed, nextBlock } from '../checks/effect.ts'
import { Context } from '@temporalio/activity'
import { LRUCache } from 'lru-cache'

export interface AuditDeps extends Pick<StepDeps, 'bridges' | 'chains'> {
  readonly client: TemporalClient
  readonly logger: Logger
  readonly metrics: Metrics
}

/** `undone`: the effect is gone. `reopened`: the run closed without an outcome. `idle`: nothing could wake the run. */
type Found = 'undone' | 'reopened' | 'idle'

/** Heartbeats carry the progress, so that the activity's next try continues from this page. */
interface Progress {
  page: ClosedPage
  report: AuditReport
}

const listed = 200
const heartbeatMs = 5_000
/** Minimum age of runs that are checked for being stuck, ms. Nearly all runs end earlier. */
const youngestMs = 30_000
const readsAtOnce = 20
const mostCached = 20_000
const blocksToWait = 5
const leastWaitMs = 10_000

const recovered: Readonly<Record<Found, { readonly code: Code; readonly text: string }>> = {
  undone: {
    code: 'EFFECT_UNDONE',
    text: 'a delivered effect is gone: the chain was reorganised deeper than finality; the transfer is delivered again',
  },
  reopened: { code: 'TRANSFER_REOPENED', text: 'a transfer was closed without an outcome; it is started again' },
  idle: {
    code: 'TRANSFER_RESET',
    text: 'a transfer made no progress, as after Temporal was restored to an earlier state; it is reset to its first task',
  },
}

interface StoredTransfer {
  readonly run: RunId
  readonly transfer: Transfer
}

/** Reads the effects of recent deliveries again, then recovers transfers that closed without an outcome or are idle. */
export function createAuditDelivered(deps: AuditDeps): AuditSteps['auditDelivered'] {
  const load = createLoader(deps.client)
  return async (input) => {
    const context = Context.current()
    const progress = (context.info.heartbeatDetails as Progress | undefined) ?? begin(input, Date.now())
    const { report } = progress
    const beat = setInterval(() => context.heartbeat(progress), heartbeatMs)
    try {
      for (;;) {
        context.cancellationSignal.throwIfAborted()
        const { kind, token: last } = progress.page
        const { runs: found, token } = await listClosedPage(deps.client, progress.page)
        const runs = [...new Map(found.map((run) => [run.workflowId, run])).values()]
        if (kind === 'delivered') {
          const delivered = await load(runs)
          report.unsure += runs.length - delivered.length
          await reviewEffects(deps, delivered, report)
        } else
          for (const run of runs)
            if ((await latestRun(deps.client, run.workflowId)) === 'undone') await recoverFound(deps, report, run, 'undone', 'reopened')
        progress.page.token = token
        context.heartbeat(progress)
        if (token !== '' && token !== last) continue
        if (kind === 'undone') break
        Object.assign(progress.page, { kind: 'undone', token: '' })
      }
      const stuck = await findStuckTransfers(deps.client, report.chain, Date.now() - youngestMs)
      for (const run of stuck) await recoverFound(deps, report, run, run.finding, 'idle')
    } finally {
      clearInterval(beat)
    }
    deps.metrics.portage_audits_total.inc({ chain: input.chain })
    deps.metrics.portage_audit_finished_time_seconds.set({ chain: input.chain }, Date.now() / 1_000)
    return report
  }
}

async function reviewEffects(deps: AuditDeps, delivered: readonly StoredTransfer[], report: AuditReport): Promise<void> {
  const shown = async ({ transfer }: StoredTransfer) => endpointOf(deps, transfer).delivered(transfer, 'latest')
  const there = await Promise.all(delivered.map((one) => unlessUnreadable(shown(one))))
  const missing = delivered.filter((_, index) => !there[index])
  const reads = await readAgain(deps, missing)
  report.checked += delivered.length
  report.intact += delivered.length - missing.length + reads.filter((shows) => shows === true).length
  report.unsure += reads.filter((shows) => shows === undefined).length
  for (const { run } of missing.filter((_, index) => reads[index] === false)) {
    const latest = await latestRun(deps.client, run.workflowId)
    if (latest === 'running') report.underway += 1
    // Other outcomes are kept, because an operator or a policy decided them.
    if (latest === 'delivered') await recoverFound(deps, report, run, 'effectGone', 'undone')
  }
}

/**
 * The result of a read. Undefined after every error except NODE_UNAVAILABLE, because anyone with access to Temporal can
 * start a transfer that cannot be read.
 */
async function unlessUnreadable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (toRelayerError(error).code === 'NODE_UNAVAILABLE') throw error
    return undefined
  }
}

/** Reads effects again a block later, because a reorg can hide an effect for a time. Undefined: still not known. */
async function readAgain(deps: AuditDeps, missing: readonly StoredTransfer[]): Promise<(boolean | undefined)[]> {
  const [first] = missing
  if (!first) return []
  const chain = chainOf(deps, first.transfer)
  const blockCame = await nextBlock(chain, Math.max(leastWaitMs, blocksToWait * chain.blockTimeMs))
  const read = async ({ transfer }: StoredTransfer) => {
    const endpoint = endpointOf(deps, transfer)
    if ((await endpoint.mayShow?.(transfer)) === false) return undefined
    const [latest, final] = await Promise.all([endpoint.delivered(transfer, 'latest'), agreed(endpoint, transfer)])
    return final === undefined ? undefined : latest || final
  }
  return blockCame ? Promise.all(missing.map((one) => unlessUnreadable(read(one)))) : missing.map(() => undefined)
}

/**
 * Recovers a run and adds it to the report. A failed recovery counts as `unsure`. Throws only errors that concern all
 * runs.
 */
async function recoverFound(deps: AuditDeps, report: AuditReport, run: RunId, finding: Finding, found: Found): Promise<void> {
  try {
    await recover(deps.client, run, finding)
  } catch (error) {
    if (isForAll(error)) throw error
    report.unsure += 1
    const facts = { code: 'RUN_UNRECOVERED', chain: report.chain, workflow: run.workflowId, run: run.runId } as const
    return deps.logger.warn('a run cannot be started again or reset', { ...facts, reason: toRelayerError(error).message })
  }
  const counter = found === 'undone' ? 'portage_effects_undone_total' : 'portage_transfers_reopened_total'
  deps.metrics[counter].inc({ chain: report.chain })
  const { code, text } = recovered[found]
  deps.logger[found === 'undone' ? 'error' : 'warn'](text, { code, chain: report.chain, transfer: run.workflowId })
  report[`${found}Count`] += 1
  if (report[found].length < listed) report[found].push(run.workflowId)
}

function begin({ chain, hours, graceMs }: AuditInput, now: number): Progress {
  const report: AuditReport = {
    ...{ chain, hours, checked: 0, intact: 0, undoneCount: 0, undone: [] },
    ...{ reopenedCount: 0, reopened: [], idleCount: 0, idle: [], underway: 0, unsure: 0 },
  }
  return { page: { kind: 'delivered', chain, from: now - hours * 3_600_000, to: now - graceMs, token: '' }, report }
}

/**
 * Returns a function that reads the transfers of runs. It leaves out runs without an input, or with an input that no
 * key decrypts.
 */
function createLoader(client: TemporalClient) {
  const cache = new LRUCache<string, Transfer>({ max: mostCached })
  const load = async (run: RunId): Promise<StoredTransfer[]> => {
    const transfer = cache.get(run.runId) ?? (await readableTransfer(client, run.workflowId, run.runId))
    if (transfer) cache.set(run.runId, transfer)
    return transfer ? [{ run, transfer }] : []
  }
  return async (runs: readonly RunId[]): Promise<StoredTransfer[]> => (await mapLimited(runs, readsAtOnce, load)).flat()
}
