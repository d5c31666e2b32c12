import { ScheduleAlreadyRunning, type WorkflowExecutionInfo } from '@temporalio/client'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Order } from '../../../domain/order.ts'
import type { ChainName } from '../../../domain/transfer/transfer.ts'
import { summaryText } from '../../../domain/text/web-ui-text.ts'
import { auditGraceMs, auditId, type AuditInput, type AuditReport } from '../../contracts/audit.ts'
import { chainQueue, searchAttributes } from '../../contracts/names.ts'
import { listWorkflows, newestFirst, type TemporalClient, within } from '../connection/client.ts'
import { isOfServer, rethrowAs } from '../connection/errors.ts'
import { describeQueue } from '../visibility/runs.ts'

export type AuditRow = Awaited<ReturnType<typeof listAudits>>[number]

type AuditOrder = Pick<Order, 'by'> & Partial<Pick<Order, 'reason'>>

const runTimeoutMs = 120_000
const serverTimeoutMs = 10_000
/** An audit that cannot start within this time is dropped. The next audit covers its period. */
const catchupWindowMs = 60_000

/** Creates or changes the schedule of a chain's audits. A paused schedule stays paused. */
export async function setAuditSchedule(
  client: TemporalClient,
  chain: ChainName,
  { everyMinutes, hours }: { readonly everyMinutes: number; readonly hours: number },
  { onlyIfMissing }: { readonly onlyIfMissing: boolean },
): Promise<void> {
  const schedule = {
    spec: { intervals: [{ every: everyMinutes * 60_000 }] },
    policies: { overlap: 'SKIP' as const, catchupWindow: catchupWindowMs },
    action: {
      type: 'startWorkflow' as const,
      workflowType: 'audit',
      workflowId: auditId(chain),
      ...startOptions({ chain, hours, graceMs: auditGraceMs }),
    },
  }
  try {
    await client.schedule.create({ scheduleId: auditId(chain), ...schedule })
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error
    if (!onlyIfMissing) await client.schedule.getHandle(auditId(chain)).update(({ state }) => ({ ...schedule, state }))
  }
}

/** Throws CHAIN_WITHOUT_WORKER if no worker serves the chain. */
export async function runAudit(client: TemporalClient, input: AuditInput, order: AuditOrder): Promise<AuditReport> {
  const { chain } = input
  const ask = <Result>(timeoutMs: number, run: () => Promise<Result>) => within(client, timeoutMs, run).catch(rethrowAs({}, { chain }))
  const { isPolled } = await ask(serverTimeoutMs, () => describeQueue(client, chainQueue(chain), 'workflow'))
  if (!isPolled)
    throw new RelayerError('CHAIN_WITHOUT_WORKER', {
      detail: `No worker serves ${chainQueue(chain)}: run portage run --role chain --chain ${chain}`,
      facts: { chain },
    })
  return ask(runTimeoutMs, async () => (await startByHand(client, input, order)).result())
}

export async function startAudit(client: TemporalClient, input: AuditInput, order: AuditOrder): Promise<string> {
  const handle = await within(client, serverTimeoutMs, () => startByHand(client, input, order)).catch(rethrowAs({}, { chain: input.chain }))
  return handle.workflowId
}

function startByHand(client: TemporalClient, input: AuditInput, { by, reason }: AuditOrder) {
  const options = startOptions(input)
  return client.workflow.start<(input: AuditInput) => Promise<AuditReport>>('audit', {
    ...options,
    workflowId: `${auditId(input.chain)}-by-hand`,
    workflowIdConflictPolicy: 'USE_EXISTING',
    memo: { by, ...(reason && { reason }) },
    staticSummary: summaryText(`${options.staticSummary}, asked by ${by}${reason ? `: ${reason}` : ''}`),
  })
}

function startOptions(input: AuditInput) {
  const { chain, hours } = input
  return {
    taskQueue: chainQueue(chain),
    args: [input] as [AuditInput],
    typedSearchAttributes: [{ key: searchAttributes.TargetChain, value: chain }],
    staticSummary: `deliveries on ${chain} in the last ${hours} hours`,
  }
}

export async function listAudits(client: TemporalClient, chains: readonly ChainName[], perChain: number) {
  const newest = async (chain: ChainName) => {
    const runs = await listWorkflows(client, `WorkflowType = 'audit' AND ${searchAttributes.TargetChain.name} = '${chain}'`)
    const toRow = async ({ workflowId, runId, status, startTime }: WorkflowExecutionInfo) => {
      const result = () => client.workflow.getHandle(workflowId, runId).result() as Promise<AuditReport>
      // Anyone with access to Temporal can complete an audit with an unreadable result.
      const report = status.name === 'COMPLETED' ? await result().catch(unlessOfServer) : undefined
      return { chain, workflowId, execution: status.name, startedAt: startTime.toISOString(), report }
    }
    return Promise.all(runs.toSorted(newestFirst).slice(0, perChain).map(toRow))
  }
  return (await within(client, serverTimeoutMs, () => Promise.all(chains.map(newest))).catch(rethrowAs({}))).flat()
}

function unlessOfServer(error: unknown): undefined {
  if (isOfServer(error)) throw error
}
