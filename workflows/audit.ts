import type { AuditInput, AuditReport, AuditSteps } from '../temporal/contracts/audit.ts'
import { policies } from './policies.ts'
import { proxyActivities, setCurrentDetails, upsertMemo } from '@temporalio/workflow'

/** Looks once at what was delivered on a chain lately, and at what closed without an outcome. A schedule starts it. A memo shows effects that are gone. */
export async function audit(input: AuditInput): Promise<AuditReport> {
  const { auditDelivered } = proxyActivities<AuditSteps>({ ...policies.audit, summary: `what was delivered on ${input.chain}` })
  const report = await auditDelivered(input)
  if (report.undoneCount > 0) upsertMemo({ undone: report.undone })
  setCurrentDetails(details(report))
  return report
}

function details(report: AuditReport): string {
  const { undone, undoneCount, reopened, reopenedCount, idle, idleCount } = report
  return [
    `${report.intact} of ${report.checked} effects are there; ${report.underway} on their way again, ${report.unsure} unsure`,
    ...(undoneCount > 0 ? [`**${undoneCount} undone, started again**`, ...undone] : []),
    ...(reopenedCount > 0 ? [`${reopenedCount} closed without an outcome, started again`, ...reopened] : []),
    ...(idleCount > 0 ? [`${idleCount} stood still, started over`, ...idle] : []),
  ].join('\n\n')
}
