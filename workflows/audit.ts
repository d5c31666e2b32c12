import { foreign, paragraphs, summaryText } from '../domain/text/web-ui-text.ts'
import type { AuditInput, AuditReport, AuditSteps } from '../temporal/contracts/audit.ts'
import { policies } from './policies.ts'
import { proxyActivities, setCurrentDetails, upsertMemo } from '@temporalio/workflow'

/** Checks recent deliveries to a chain, and transfers that closed without an outcome. */
export async function audit(input: AuditInput): Promise<AuditReport> {
  const { auditDelivered } = proxyActivities<AuditSteps>({
    ...policies.audit,
    summary: summaryText(`deliveries on ${input.chain} in the last ${input.hours} hours`),
  })
  const report = await auditDelivered(input)
  if (report.undoneCount > 0) upsertMemo({ undone: report.undone })
  setCurrentDetails(details(report))
  return report
}

const idsShown = 20

function details(report: AuditReport): string {
  const { undone, undoneCount, reopened, reopenedCount, idle, idleCount } = report
  const listed = (ids: readonly string[]) => ids.slice(0, idsShown).map((id) => `- ${foreign(id)}`)
  const found = (count: number, what: string, ids: readonly string[]) => count > 0 && `**${count} ${what}**\n\n${listed(ids).join('\n')}`
  return paragraphs(
    found(undoneCount, 'undone, started again', undone),
    found(reopenedCount, 'closed without an outcome, started again', reopened),
    found(idleCount, 'stalled, started over', idle),
    `${report.intact} of ${report.checked} effects are there; ${report.underway} on their way again, ${report.unsure} unsure`,
  )
}
