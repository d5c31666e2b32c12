import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { catalogue, type Code, causeCatalogue, isCauseCode, isErrorCode } from '../../domain/catalogue/catalogue.ts'
import { type CauseRow, type Row, severities } from '../../domain/catalogue/row.ts'
import { markdownTable, wrapped } from './markdown.ts'

const folder = 'docs/runbooks'

export interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
  /** Path of the alert's runbook in this repository. */
  readonly runbook: string
}

/** Start of the URL of a runbook, before its path. */
const docsUrl = '{{ $externalLabels.portage_docs }}/'

export function alertRules(root: string): AlertRule[] {
  const { groups } = parse(readFileSync(join(root, 'deploy/prometheus/alerts.yml'), 'utf8')) as { groups: { rules: AlertRule[] }[] }
  return groups.flatMap(({ rules }) => rules.map((rule) => ({ ...rule, runbook: rule.annotations.runbook_url.replace(docsUrl, '') })))
}

export const runbookOf = (code: string) => `${folder}/${code}.md`

/** The generated parts of the runbooks by path: one for each cause, and one for each other code of an alert. */
export function describeRunbooks(root: string): ReadonlyMap<string, string> {
  const alerts = alertRules(root)
  const codes = (Object.keys(catalogue) as Code[]).filter((code) => isCauseCode(code) || alertsOf(code, alerts).length > 0)
  const others = codes.filter((code) => !isCauseCode(code))
  return new Map([
    [`${folder}/README.md`, index(others, alerts)],
    ...codes.map((code) => [runbookOf(code), page(code, catalogue[code], alertsOf(code, alerts))] as const),
  ])
}

/** The table of docs/operate/monitor/alerts.md. */
export function describeAlerts(root: string): string {
  const rows = alertRules(root).map(({ alert, for: time = 'at once', labels, annotations: { summary }, runbook }) => {
    const code = /(\w+)\.md$/.exec(runbook)?.[1] ?? ''
    return [`\`${alert}\``, labels.severity, plain(summary), time, `[${code}](../../runbooks/${code}.md)`]
  })
  return markdownTable(['alert', 'severity', 'meaning', 'fires after', 'runbook'], rows)
}

function alertsOf(code: Code, alerts: readonly AlertRule[]): readonly AlertRule[] {
  return alerts.filter(({ runbook }) => runbook === runbookOf(code))
}

function plain(summary: string): string {
  return summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '`<$1>`').replaceAll(/\{\{ \$value[^}]*\}\}/g, '`<value>`')
}

function page(code: Code, row: Row & Partial<CauseRow>, alerts: readonly AlertRule[]): string {
  const { title, meaning, remedy, does, next = [] } = row
  return [
    `# ${code}`,
    wrapped(title),
    ...(meaning === undefined ? [] : [wrapped(meaning)]),
    wrapped(`**Symptom:** ${symptoms(code, alerts)}.`),
    ...(does === undefined ? [] : [wrapped(`**Meanwhile:** ${does}`)]),
    wrapped(`**You:** ${linked(remedy.replace(`: ${runbookOf(code)}`, ''))}`),
    ...(next.length === 0 ? [] : [['```sh', ...next, '```'].join('\n')]),
    ...(alerts.length === 0 ? [] : ['**Alerts:**', alerts.map((alert) => wrapped(itemOf(alert), '  ')).join('\n')]),
    '[All runbooks](README.md)',
  ].join('\n\n')
}

function itemOf({ alert, labels, annotations, for: time }: AlertRule): string {
  return `- \`${alert}\` (${labels.severity}${time ? `, after ${time}` : ''}): ${plain(annotations.summary)}`
}

function symptoms(code: Code, alerts: readonly AlertRule[]): string {
  const shown = [
    ...(isCauseCode(code) ? ['`portage stuck`', 'the page', '`GET /v1/stuck`'] : []),
    ...(isErrorCode(code) ? ['errors', 'transfers', 'log lines'] : []),
    ...(isCauseCode(code) || isErrorCode(code) || code === 'PROCESS_NOT_READY' ? [] : ['log lines']),
  ]
  const where = new Intl.ListFormat('en-GB').format(shown)
  return [...(where ? [`${where} show \`${code}\``] : []), ...alerts.map(({ alert }) => `the alert \`${alert}\` fires`)].join('; ')
}

/** Turns paths of documents into links from docs/runbooks. */
function linked(text: string): string {
  return text
    .replaceAll(/docs\/runbooks\/(\w+)\.md/g, '[$1]($1.md)')
    .replaceAll(/docs\/((?:\w+\/)*([\w-]+\.md))/g, '[$2](../$1)')
    .replaceAll('SECURITY.md', '[SECURITY.md](../../SECURITY.md)')
}

function index(others: readonly Code[], alerts: readonly AlertRule[]): string {
  const rows = (codes: readonly Code[]) =>
    markdownTable(
      ['code', 'meaning', 'alerts'],
      codes.map((code) => [
        `[${code}](${code}.md)`,
        catalogue[code].title,
        alertsOf(code, alerts)
          .map(({ alert }) => `\`${alert}\``)
          .join(', '),
      ]),
    )
  const causes = Object.entries(causeCatalogue)
  const parts = Object.entries(severities).map(([severity, heading]) => {
    const codes = causes.flatMap(([code, row]) => (row.severity === severity ? [code as Code] : []))
    return `## ${heading}\n\n${rows(codes)}`
  })
  return [...parts, `## Alerts without a cause in \`portage stuck\`\n\n${rows(others)}`].join('\n\n')
}
