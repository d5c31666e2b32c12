import { auditedChains } from '../../config/chains.ts'
import { listAudits, runAudit } from '../../temporal/client/streams/audits.ts'
import type { AuditReport } from '../../temporal/contracts/audit.ts'
import { numberWithin } from '../arguments/options.ts'
import type { Call, CommandSpec } from '../command.ts'
import { orderCommand } from '../orders.ts'
import { list, table, timeText } from '../output/output.ts'

export const auditCommand: CommandSpec = {
  description:
    'Audits: find deliveries that a deep reorg undid, and transfers that closed without an outcome. Portage starts such transfers again.',
  commands: {
    run: {
      ...orderCommand('audit run'),
      run: ({ withOrder, options }: Call<{ chain?: string; hours?: number; reason?: string }>) =>
        withOrder(async (client, config, allow) => {
          const { hours = config.audit.hours } = options
          const chains = auditedChains(config, options.chain)
          const order = allow({ chains })
          const reports = await Promise.all(chains.map((chain) => runAudit(client, { chain, hours, graceMs: 0 }, order)))
          const text = [table(reports.map(auditCells)), ...findings(reports)]
          return { json: { reports }, text, failed: reports.some(({ undoneCount }) => undoneCount > 0) }
        }),
    },
    show: {
      description: 'The results of the latest audits.',
      options: (command) =>
        command
          .option('--chain <name>', 'only this target chain')
          .option('--limit <number>', 'show at most this many audits of each chain', numberWithin(1, 100), 5),
      examples: ['portage audit show --chain ethereum --json'],
      run: ({ withTemporal, options }: Call<{ chain?: string; limit: number }>) =>
        withTemporal(async (client, config) => {
          const audits = await listAudits(client, auditedChains(config, options.chain), options.limit)
          const rows = audits.map(({ chain, startedAt, execution, report }) => {
            return { started: timeText(startedAt), execution: execution.toLowerCase(), ...auditCells({ chain, ...report }) }
          })
          return { json: { audits }, text: [list('no audits', rows), ...findings(audits.flatMap(({ report }) => report ?? []))] }
        }),
    },
  },
}

function auditCells({ chain, checked, intact, undoneCount, reopenedCount, idleCount, underway, unsure }: Partial<AuditReport>) {
  return { chain, checked, intact, undone: undoneCount, reopened: reopenedCount, idle: idleCount, underway, unsure }
}

function findings(reports: readonly AuditReport[]): string[] {
  const lines = reports.flatMap(({ undone, reopened, idle }) => [
    ...undone.map((id) => `undone, delivered again: ${id}`),
    ...reopened.map((id) => `closed without an outcome, started again: ${id}`),
    ...idle.map((id) => `waited for nothing or did not answer; reset: ${id}`),
  ])
  return lines.length === 0 ? [] : [lines.join('\n')]
}
