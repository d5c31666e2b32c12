import { toRelayerError } from '../domain/errors.ts'
import type { ChainName, Transfer } from '../domain/transfer/transfer.ts'
import type { TransferRecovery } from '../recovery/transfer-recovery.ts'
import type { Closed } from '../temporal/client/closed-transfers.ts'
import type { RunId } from '../temporal/client/runs.ts'
import type { AuditInput, AuditReport } from '../temporal/contracts/audit.ts'
import type { StepDeps } from './deps.ts'
import { chainOf, endpointOf } from './deps.ts'
import { nextBlock } from './transfer/next-block.ts'
import { Context } from '@temporalio/activity'

export interface AuditDeps extends Pick<StepDeps, 'bridges' | 'chains'> {
  readonly recovery: TransferRecovery
  /** A delivered effect is gone; its transfer was started again. */
  readonly onUndone: (chain: ChainName, transfer: string) => void
  /** A transfer that closed without an outcome was started again. */
  readonly onReopened: (chain: ChainName, transfer: string) => void
  /** A transfer that stood still was started over. */
  readonly onIdle: (chain: ChainName, transfer: string) => void
  /** An audit has come to its end. */
  readonly onDone: (chain: ChainName) => void
}

/** Where an audit is: what its heartbeats carry, so that another try goes on from the same page. */
interface Progress {
  phase: Closed
  token: string
  from: number
  to: number
  report: AuditReport
}

/** Ids in a report; the rest is counted. */
const listed = 200
/** First events of closed runs that are read at a time. */
const readsAtOnce = 20
/** Transfers of closed runs that a process keeps: they never change, and every audit of the next hours asks for them again. */
const kept = 20_000
/** A run that is younger, ms, is not looked at: nearly all are over by then. */
const youngestMs = 30_000
/** A second look waits so many block times for a block, and at least 10 s. */
const blocksToWait = 5

/**
 * Asks the chain again for every effect that was delivered lately, all of a page in one batch. One that is not there is looked at again a
 * block later, at the finalized state on the word of more than half of the nodes: gone then, it was undone by a reorg deeper than finality;
 * alarm, and the transfer starts again under its id. Then what closed without an outcome starts again, and what runs and waits for nothing.
 */
export function createAuditDelivered(deps: AuditDeps) {
  const transfers = new Map<string, Transfer>()
  return async function auditDelivered(input: AuditInput): Promise<AuditReport> {
    const context = Context.current()
    const progress = (context.info.heartbeatDetails as Progress | undefined) ?? begin(input, Date.now())
    const beat = setInterval(() => context.heartbeat(progress), 5_000)
    try {
      for (;;) {
        context.cancellationSignal.throwIfAborted()
        const { phase, token } = progress
        const page = await deps.recovery.closedRuns({ ...progress, kind: phase, chain: input.chain })
        if (phase === 'delivered') await lookAt(page.runs, progress.report)
        else await reopen(page.runs, progress.report)
        progress.token = page.token
        context.heartbeat(progress)
        if (page.token !== '' && page.token !== token) continue
        if (phase === 'undone') break
        Object.assign(progress, { phase: 'undone', token: '' })
      }
      await startOver(progress)
    } finally {
      clearInterval(beat)
    }
    deps.onDone(input.chain)
    return progress.report
  }

  async function lookAt(runs: readonly RunId[], report: AuditReport): Promise<void> {
    // An id that was delivered more than once has several runs.
    const unique = [...new Map(runs.map((run) => [run.workflowId, run])).values()]
    const known = await load(unique)
    const there = await Promise.all(known.map(({ transfer }) => endpointOf(deps, transfer).delivered(transfer, 'latest')))
    const missing = known.filter((_, index) => !there[index])
    report.checked += known.length
    report.intact += known.length - missing.length
    const [first] = missing
    if (!first) return
    const chain = chainOf(deps, first.transfer)
    const looks = (await nextBlock(chain, Math.max(10_000, blocksToWait * chain.blockTimeMs)))
      ? await Promise.all(missing.map(({ transfer }) => secondLook(transfer)))
      : missing.map(() => undefined)
    for (const [index, { run }] of missing.entries()) {
      const shows = looks[index]
      if (shows === true) report.intact += 1
      else if (shows === undefined) report.unsure += 1
      else await deliverAgain(run, report)
    }
  }

  /** Undefined while the nodes do not agree. */
  async function secondLook(transfer: Transfer): Promise<boolean | undefined> {
    const endpoint = endpointOf(deps, transfer)
    try {
      const [latest, agreed] = await Promise.all([endpoint.delivered(transfer, 'latest'), endpoint.delivered(transfer, 'agreed')])
      return latest || agreed
    } catch (error) {
      if (toRelayerError(error).code === 'NODES_DISAGREE') return undefined
      throw error
    }
  }

  async function deliverAgain(run: RunId, report: AuditReport): Promise<void> {
    const id = run.workflowId
    const latest = await deps.recovery.latest(id)
    if (latest === 'running') report.underway += 1
    // An outcome that came later than this delivery is an operator's or a policy's; what closed undone is the next phase's.
    if (latest !== 'delivered') return
    await deps.recovery.recover(run, 'effectGone')
    deps.onUndone(report.chain, id)
    report.undoneCount += 1
    if (report.undone.length < listed) report.undone.push(id)
  }

  async function reopen(runs: readonly RunId[], report: AuditReport): Promise<void> {
    for (const [id, run] of new Map(runs.map((one) => [one.workflowId, one]))) {
      if ((await deps.recovery.latest(id)) !== 'undone') continue
      await deps.recovery.recover(run, 'undone')
      deps.onReopened(report.chain, id)
      report.reopenedCount += 1
      if (report.reopened.length < listed) report.reopened.push(id)
    }
  }

  async function startOver({ report }: Progress): Promise<void> {
    for (const run of await deps.recovery.stuck(report.chain, Date.now() - youngestMs)) {
      await deps.recovery.recover(run, run.finding)
      deps.onIdle(report.chain, run.workflowId)
      report.idleCount += 1
      if (report.idle.length < listed) report.idle.push(run.workflowId)
    }
  }

  async function load(runs: readonly RunId[]): Promise<{ run: RunId; transfer: Transfer }[]> {
    const found: { run: RunId; transfer: Transfer }[] = []
    for (let at = 0; at < runs.length; at += readsAtOnce) {
      const some = runs.slice(at, at + readsAtOnce)
      found.push(...(await Promise.all(some.map(async (run) => ({ run, transfer: await stored(run) })))))
    }
    return found
  }

  async function stored(run: RunId): Promise<Transfer> {
    const known = transfers.get(run.runId)
    if (known) return known
    const transfer = await deps.recovery.stored(run)
    const [oldest] = transfers.keys()
    if (transfers.size >= kept && oldest !== undefined) transfers.delete(oldest)
    transfers.set(run.runId, transfer)
    return transfer
  }
}

function begin({ chain, hours, graceMs }: AuditInput, now: number): Progress {
  const report: AuditReport = {
    ...{ chain, hours, checked: 0, intact: 0, undoneCount: 0, undone: [] },
    ...{ reopenedCount: 0, reopened: [], idleCount: 0, idle: [], underway: 0, unsure: 0 },
  }
  return { phase: 'delivered', token: '', from: now - hours * 3_600_000, to: now - graceMs, report }
}
