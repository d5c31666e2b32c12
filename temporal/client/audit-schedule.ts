import { ScheduleAlreadyRunning } from '@temporalio/client'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import { auditGraceMs, auditId, type AuditInput } from '../contracts/audit.ts'
import { chainQueue, searchAttributes } from '../contracts/names.ts'
import type { TemporalClient } from './client.ts'

/** A schedule catches up no further than this, ms: what was missed while Temporal was down, the next audit sees as well. */
const catchupWindowMs = 60_000

/**
 * Creates the schedule of a chain's audits, or brings it to these values. An operator's pause stays. Throws what the Temporal client throws.
 *
 * @param options.onlyIfMissing an existing schedule stays as it is: operators may have changed it since it was set
 */
export async function setAuditSchedule(
  client: TemporalClient,
  chain: ChainName,
  { everyMinutes, hours }: { readonly everyMinutes: number; readonly hours: number },
  { onlyIfMissing }: { readonly onlyIfMissing: boolean },
): Promise<void> {
  const input: AuditInput = { chain, hours, graceMs: auditGraceMs }
  const schedule = {
    spec: { intervals: [{ every: everyMinutes * 60_000 }] },
    policies: { overlap: 'SKIP' as const, catchupWindow: catchupWindowMs },
    action: {
      type: 'startWorkflow' as const,
      workflowType: 'audit',
      workflowId: auditId(chain),
      taskQueue: chainQueue(chain),
      args: [input],
      typedSearchAttributes: [{ key: searchAttributes.TargetChain, value: chain }],
      staticSummary: `what was delivered on ${chain} in the last ${hours} hours`,
    },
  }
  try {
    await client.schedule.create({ scheduleId: auditId(chain), ...schedule })
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error
    if (!onlyIfMissing) await client.schedule.getHandle(auditId(chain)).update(({ state }) => ({ ...schedule, state }))
  }
}
