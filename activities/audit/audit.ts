import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import { type Finding, recover } from '../../temporal/recovery/remedies.ts'
import { findStuckTransfers } from '../../temporal/recovery/stuck-transfers.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { type ClosedPage, latestRun, listClosedPage } from '../../temporal/client/transfers/closed-runs.ts'
import type { RunId } from '../../temporal/client/visibility/runs.ts'
import { storedTransfer } from '../../temporal/client/transfers/start-transfer.ts'
import type { AuditInput, AuditReport, AuditSteps } from '../../temporal/contracts/audit.ts'
import { chainOf, endpointOf, type StepDeps } from '../deps.ts'
import { agreed, nextBlock } from '../transfer/delivery-checks.ts'
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
  page: ClosedPage
  report: AuditReport
}

/** Most ids in a list of the report; the counts count all. */
const listed = 200
const heartbeatMs = 5_000
/** A younger run, ms, is not looked at: nearly all of them end by then. */
const youngestMs = 30_000
/** First events of closed runs that are read at a time. */
const readsAtOnce = 20
/** Most transfers of closed runs that a process caches: they never change, and every audit of the next hours reads them again. */
const mostCached = 20_000
/** The second look waits this many block times for a block, and at least 10 s. */
const blocksToWait = 5
const leastWaitMs = 10_000

/** A closed run, and the transfer that it was started with. */
interface StoredTransfer {
  readonly run: RunId
  readonly transfer: Transfer
}

/** Asks the chain again for every effect that was delivered lately; then recovers what closed without an outcome, and what runs and waits for nothing. */
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
        // An id that was delivered more than once has several runs.
        const runs = [...new Map(found.map((run) => [run.workflowId, run])).values()]
        if (kind === 'delivered') await reviewEffects(deps, await load(runs), report)
        else await reopen(deps, runs, report)
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
    deps.onDone(input.chain)
    return report
  }
}

/** Asks a target chain for all these effects in one batch, and starts the transfers again whose effect is gone. Throws what reads throw. */
async function reviewEffects(deps: AuditDeps, delivered: readonly StoredTransfer[], report: AuditReport): Promise<void> {
  const there = await Promise.all(delivered.map(({ transfer }) => endpointOf(deps, transfer).delivered(transfer, 'latest')))
  const missing = delivered.filter((_, index) => !there[index])
  const looks = await lookAgain(deps, missing)
  report.checked += delivered.length
  report.intact += delivered.length - missing.length + looks.filter((shows) => shows === true).length
  report.unsure += looks.filter((shows) => shows === undefined).length
  for (const { run } of missing.filter((_, index) => looks[index] === false)) {
    const latest = await latestRun(deps.client, run.workflowId)
    if (latest === 'running') report.underway += 1
    // A later outcome is an operator's or a policy's; what closed without one belongs to the next phase.
    if (latest === 'delivered') await recoverFound(deps, report, run, 'effectGone', 'undone')
  }
}

/**
 * Looks a block later, in the finalized state of more than half of the nodes: an effect that is not there either was undone by a reorg deeper than finality.
 * Undefined where the nodes do not agree, and for all if no block came.
 */
async function lookAgain(deps: AuditDeps, missing: readonly StoredTransfer[]): Promise<(boolean | undefined)[]> {
  const [first] = missing
  if (!first) return []
  const chain = chainOf(deps, first.transfer)
  const blockCame = await nextBlock(chain, Math.max(leastWaitMs, blocksToWait * chain.blockTimeMs))
  const look = async ({ transfer }: StoredTransfer) => {
    const endpoint = endpointOf(deps, transfer)
    const [latest, final] = await Promise.all([endpoint.delivered(transfer, 'latest'), agreed(endpoint, transfer)])
    return final === undefined ? undefined : latest || final
  }
  return blockCame ? Promise.all(missing.map(look)) : missing.map(() => undefined)
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
  return { page: { kind: 'delivered', chain, from: now - hours * 3_600_000, to: now - graceMs, token: '' }, report }
}

/** Loads the transfers of closed runs, in their order. Throws what the Temporal client throws. */
function createLoader(client: TemporalClient) {
  const cache = new Map<string, Transfer>()
  const load = async (run: RunId): Promise<StoredTransfer> => {
    const known = cache.get(run.runId)
    if (known) return { run, transfer: known }
    const transfer = await storedTransfer(client, run.workflowId, run.runId)
    const [oldest] = cache.keys()
    if (cache.size >= mostCached && oldest !== undefined) cache.delete(oldest)
    cache.set(run.runId, transfer)
    return { run, transfer }
  }
  return async (runs: readonly RunId[]): Promise<StoredTransfer[]> => {
    const found: StoredTransfer[] = []
    for (let at = 0; at < runs.length; at += readsAtOnce) {
      found.push(...(await Promise.all(runs.slice(at, at + readsAtOnce).map(load))))
    }
    return found
  }
}
