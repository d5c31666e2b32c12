import type { ChainName } from '../../domain/transfer/transfer.ts'
import { type Finding, recover } from '../../recovery/remedies.ts'
import { findStuckTransfers } from '../../recovery/stuck-transfers.ts'
import type { TemporalClient } from '../../temporal/client/client.ts'
import { type Closed, latestRun, listClosedRuns } from '../../temporal/client/closed-transfers.ts'
import type { RunId } from '../../temporal/client/runs.ts'
import type { AuditInput, AuditReport } from '../../temporal/contracts/audit.ts'
import type { StepDeps } from '../deps.ts'
import { checkEffects } from './check-effects.ts'
import { createStoredTransfers, type StoredTransfer } from './stored-transfers.ts'
import { Context } from '@temporalio/activity'

export interface AuditDeps extends Pick<StepDeps, 'bridges' | 'chains'> {
  readonly client: TemporalClient
  /** A transfer was started again, or reset. */
  readonly onRecovered: (found: Found, chain: ChainName, transfer: string) => void
  /** An audit has ended. */
  readonly onDone: (chain: ChainName) => void
}

/** `undone`: its effect was delivered and is gone. `reopened`: it closed without an outcome. `idle`: it waits for nothing, or its tasks are not answered. */
export type Found = 'undone' | 'reopened' | 'idle'

/** How far an audit is: its heartbeats carry this, so that another try goes on from the same page. */
interface Progress {
  phase: Closed
  token: string
  from: number
  to: number
  report: AuditReport
}

/** Most ids in a list of the report; the counts count all. */
const listed = 200
const heartbeatMs = 5_000
/** A younger run, ms, is not looked at: nearly all of them end by then. */
const youngestMs = 30_000

/**
 * First asks the chain again for every effect that was delivered lately (check-effects.ts): what a reorg deeper than finality undid is an alarm, and its
 * transfer starts again under its id. Then starts again what closed without an outcome, and what runs and waits for nothing.
 */
export function createAuditDelivered(deps: AuditDeps) {
  const load = createStoredTransfers(deps.client)
  return async function auditDelivered(input: AuditInput): Promise<AuditReport> {
    const context = Context.current()
    const progress = (context.info.heartbeatDetails as Progress | undefined) ?? begin(input, Date.now())
    const { report } = progress
    const beat = setInterval(() => context.heartbeat(progress), heartbeatMs)
    try {
      for (;;) {
        context.cancellationSignal.throwIfAborted()
        const { phase, token } = progress
        const page = await listClosedRuns(deps.client, { ...progress, kind: phase, chain: input.chain })
        // An id that was delivered more than once has several runs.
        const runs = [...new Map(page.runs.map((run) => [run.workflowId, run])).values()]
        if (phase === 'delivered') await reviewEffects(deps, await load(runs), report)
        else await reopen(deps, runs, report)
        progress.token = page.token
        context.heartbeat(progress)
        if (page.token !== '' && page.token !== token) continue
        if (phase === 'undone') break
        Object.assign(progress, { phase: 'undone', token: '' })
      }
      const stuck = await findStuckTransfers(deps.client, report.chain, Date.now() - youngestMs)
      for (const run of stuck) await recoverFound(deps, report, run, run.finding, 'idle')
    } finally {
      clearInterval(beat)
    }
    deps.onDone(input.chain)
    return report
  }
}

async function reviewEffects(deps: AuditDeps, delivered: readonly StoredTransfer[], report: AuditReport): Promise<void> {
  const { unsure, gone } = await checkEffects(deps, delivered)
  report.checked += delivered.length
  report.intact += delivered.length - unsure - gone.length
  report.unsure += unsure
  for (const run of gone) {
    const latest = await latestRun(deps.client, run.workflowId)
    if (latest === 'running') report.underway += 1
    // A later outcome is an operator's or a policy's; what closed without one belongs to the next phase.
    if (latest === 'delivered') await recoverFound(deps, report, run, 'effectGone', 'undone')
  }
}

async function reopen(deps: AuditDeps, runs: readonly RunId[], report: AuditReport): Promise<void> {
  for (const run of runs) {
    if ((await latestRun(deps.client, run.workflowId)) === 'undone') await recoverFound(deps, report, run, 'undone', 'reopened')
  }
}

async function recoverFound(deps: AuditDeps, report: AuditReport, run: RunId, finding: Finding, found: Found): Promise<void> {
  await recover(deps.client, run, finding)
  deps.onRecovered(found, report.chain, run.workflowId)
  report[`${found}Count`] += 1
  if (report[found].length < listed) report[found].push(run.workflowId)
}

function begin({ chain, hours, graceMs }: AuditInput, now: number): Progress {
  const report: AuditReport = {
    ...{ chain, hours, checked: 0, intact: 0, undoneCount: 0, undone: [] },
    ...{ reopenedCount: 0, reopened: [], idleCount: 0, idle: [], underway: 0, unsure: 0 },
  }
  return { phase: 'delivered', token: '', from: now - hours * 3_600_000, to: now - graceMs, report }
}
