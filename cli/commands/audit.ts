import { Command, InvalidArgumentError } from 'commander'
import type { AuditReport } from '../../temporal/contracts/audit.ts'
import type { AuditRow } from '../audits.ts'
import { auditedChains, listAudits, runAudit } from '../audits.ts'
import type { Cli } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { print, table } from '../output.ts'
import { withClient } from '../temporal.ts'

/** `portage audit run|show` */
export function auditCommand(cli: Cli): Command {
  return new Command('audit')
    .description('Audits: was what is delivered undone by a deep reorg? What closed undone? Both start again.')
    .addCommand(runCommand(cli))
    .addCommand(showCommand(cli))
}

function runCommand({ context, action }: Cli): Command {
  return new Command('run')
    .description('Audit now, beside the schedule. Ends with 1 if a delivered effect was undone.')
    .option('--chain <name>', 'only this target chain')
    .option('--hours <number>', 'how far back to look (default: audit.hours of the config)', hours)
    .addHelpText('after', runHelp)
    .action(
      action(async (globals, options: { chain?: string; hours?: number }) => {
        const config = await readConfig(context, globals)
        const chains = auditedChains(config, options.chain)
        const reports = await withClient(config, (client) =>
          Promise.all(chains.map((chain) => runAudit(client, { chain, hours: options.hours ?? config.audit.hours, graceMs: 0 }))),
        )
        print(context, globals, { reports }, reportsText(reports))
        return reports.some(({ undoneCount }) => undoneCount > 0) ? exitCodes.failure : exitCodes.ok
      }),
    )
}

function showCommand({ context, action }: Cli): Command {
  return new Command('show')
    .description('What the latest audits found.')
    .option('--chain <name>', 'only this target chain')
    .option('--limit <number>', 'most audits of a chain', rowLimit, 5)
    .addHelpText('after', '\nExample:\n  portage audit show --chain ethereum --json')
    .action(
      action(async (globals, options: { chain?: string; limit: number }) => {
        const config = await readConfig(context, globals)
        const chains = auditedChains(config, options.chain)
        const audits = await withClient(config, (client) => listAudits(client, chains, options.limit))
        print(context, globals, { audits }, audits.length === 0 ? 'no audits' : rowsText(audits))
        return exitCodes.ok
      }),
    )
}

const headings = ['chain', 'checked', 'intact', 'undone', 'reopened', 'idle', 'underway', 'unsure']

function cells({ checked, intact, undoneCount, reopenedCount, idleCount = 0, underway, unsure }: AuditReport): string[] {
  return [checked, intact, undoneCount, reopenedCount, idleCount, underway, unsure].map(String)
}

function reportsText(reports: readonly AuditReport[]): string {
  const rows = reports.map((report) => [report.chain, ...cells(report)])
  return [table(headings, rows), ...reports.flatMap(findings)].join('\n')
}

function rowsText(audits: readonly AuditRow[]): string {
  const rows = audits.map(({ chain, startedAt, execution, report }) => [
    startedAt.slice(0, 19),
    execution.toLowerCase(),
    chain,
    ...(report ? cells(report) : []),
  ])
  return [table(['started', 'execution', ...headings], rows), ...audits.flatMap(({ report }) => (report ? findings(report) : []))].join(
    '\n',
  )
}

function findings({ undone, reopened, idle = [] }: AuditReport): string[] {
  return [
    ...undone.map((id) => `undone, delivered again: ${id}`),
    ...reopened.map((id) => `closed without an outcome, started again: ${id}`),
    ...idle.map((id) => `stood still, started over: ${id}`),
  ]
}

function hours(value: string): number {
  const number = Number(value)
  if (!Number.isFinite(number) || number <= 0 || number > 8_760) {
    throw new InvalidArgumentError('It must be a number of hours above 0, at most 8760.')
  }
  return number
}

function rowLimit(value: string): number {
  const limit = Number(value)
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw new InvalidArgumentError('It must be a whole number from 1 to 100.')
  return limit
}

const runHelp = `
The server keeps closed workflows for its retention time: an audit sees no further back.

Example:
  portage audit run --chain ethereum --hours 48`
