import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { cachedProgram } from '../../lab/alerts/prometheus.ts'
import { run } from '../../lab/devnet/run.ts'
import { cases, healthy, lane, moreCases, type Series, stream } from '../helpers/alert-cases.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const cached = cachedProgram('promtool', process.env)
const promtool = process.env['PROMTOOL'] || (existsSync(cached) ? cached : 'promtool')
const found = (await run(promtool, ['--version'])).code === 0
if (!found)
  process.stdout.write(
    "NOT RUN: test/house/promtool.test.ts (it needs promtool, of Debian's package prometheus, which npm run alerts:live unpacks, or PROMTOOL that names it)\n",
  )

const rulesFile = fileURLToPath(new URL('../../deploy/prometheus/alerts.yml', import.meta.url))

const objectivesFile = fileURLToPath(new URL('../../deploy/prometheus/objectives.yml', import.meta.url))

interface Rule {
  readonly alert: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}

const docs = 'https://docs.example/portage'
const dir = temporaryFolder()
let rules: readonly Rule[] = []
beforeAll(async () => {
  const { groups } = parse(await readFile(rulesFile, 'utf8')) as { groups: { rules: Rule[] }[] }
  rules = groups.flatMap((group) => group.rules)
})

test('each alert rule has a case, and each case a rule', () => {
  expect(Object.keys(cases)).toEqual(rules.map(({ alert }) => alert))
})

test.runIf(found)('each alert fires at its fault, not earlier, and with the text that a person reads', async () => {
  const both = rules.flatMap((rule) => [cases, moreCases].flatMap((all) => all[rule.alert] ?? []).map((one) => [rule, one] as const))
  const tests = both.map(
    ([
      {
        alert,
        labels: { severity },
        annotations,
      },
      { series, quietAt, at, labels, value },
    ]) => {
      const expected = {
        exp_labels: { severity, ...labels },
        exp_annotations: {
          summary: shown(annotations.summary, labels, value),
          runbook_url: annotations.runbook_url.replace('{{ $externalLabels.portage_docs }}', docs),
        },
      }
      return {
        ...{ interval: '1m', input_series: inputs(series), external_labels: { portage_docs: docs } },
        alert_rule_test: [
          ...['1m', ...(quietAt === undefined ? [] : [quietAt])].map((eval_time) => ({ eval_time, alertname: alert })),
          { eval_time: at, alertname: alert, exp_alerts: [expected] },
        ],
      }
    },
  )
  await promtoolAccepts('fires', tests)
})

test.runIf(found)('no alert fires while all is well', async () => {
  await promtoolAccepts('healthy', [quietly(healthy, '20m', '119m')])
})

test.runIf(found)('no alert fires when a process starts or has ended, although its series have few values', async () => {
  const hour = 60
  const of = (process: string, values: (values: string) => string) =>
    Object.entries(healthy).map(([name, all]) => [named(name, process), values(all)] as const)
  // A series that grows continues in the new process with the value that it had in the old one. For counters this makes
  // no difference, because rules read only their increase.
  const started = of('new', (values) => {
    const [, from = '', more = '', each = '0'] = /^(\d+)(\+([\d.]+))?x/.exec(values) ?? []
    return `_x${hour} ${Number(from) + hour * Number(each)}${more}x${hour - 1}`
  })
  const ended = of('old', (values) => `${values.replace(/x.*$/, '')}x${hour - 1} stale`)
  const times = ['60m', '61m', '62m', '65m', '68m', '69m', '70m', '71m', '74m', '75m', '76m', '80m', '100m', '118m', '119m']
  const both = Object.fromEntries([...started, ...ended])
  await promtoolAccepts('started', [quietly(Object.fromEntries(started), ...times), quietly(both, ...times)])
})

test.runIf(found)('a stream that was paused has an old checkpoint and cursor and raises no alert, also when it resumes', async () => {
  const paused = {
    // The cursor rises for three minutes after the last checkpoint. Then the stream is paused until minute 80.
    [`portage_stream_cursor_height{stream="${stream}"}`]: '1+1x22 23x57 23x2 24+9x40',
    [`portage_stream_lag_blocks{stream="${stream}"}`]: '1x22 1+1x57 50x2 50-1x40',
    [`portage_stream_paused{stream="${stream}"}`]: '0+0x20 1x58 0+0x45',
    // The process writes the next checkpoint only after it has read for a while.
    [`portage_stream_checkpoint_age_seconds{stream="${stream}"}`]: '30x19 60+60x70 30x40',
  }
  const times = ['70m', '78m', '79m', '80m', '81m', '82m', '83m', '85m', '90m', '100m']
  const alert_rule_test = ['PortageStreamCheckpointOld', 'PortageStreamStalled'].flatMap((alertname) =>
    times.map((eval_time) => ({ eval_time, alertname })),
  )
  await promtoolAccepts('paused', [{ interval: '1m', input_series: inputs(paused), alert_rule_test }])
})

test.runIf(found)('the objectives are what docs/operate/monitor/objectives.md says of them', async () => {
  const series = {
    'portage_transfer_seconds_bucket{chain="a",bridge="n",le="300",pod="1"}': '0+8x90',
    'portage_transfer_seconds_count{chain="a",bridge="n",pod="1"}': '0+10x90',
    'portage_transfer_seconds_bucket{chain="a",bridge="n",le="300.0",pod="2"}': '0+10x90',
    'portage_transfer_seconds_count{chain="a",bridge="n",pod="2"}': '0+10x90',
    // Until the process of pod 1 stalls, its cursor is at most a minute behind. The process of pod 2 reads nothing.
    [`portage_stream_cursor_height{stream="${stream}",pod="1"}`]: '10+5x30 160x60',
    [`portage_stream_lag_blocks{stream="${stream}",pod="1"}`]: '5x30 5+5x60',
    [`portage_stream_cursor_height{stream="${stream}",pod="2"}`]: '10x90',
    [`portage_stream_lag_blocks{stream="${stream}",pod="2"}`]: '5x90',
    [`portage_lane_spent_wei{lane="${lane}",window="day",pod="1"}`]: '20x90',
    [`portage_lane_spent_wei{lane="${lane}",window="day",pod="2"}`]: '30x90',
    [`portage_lane_spending_limit_wei{lane="${lane}",window="day"}`]: '100x90',
  }
  const is = (eval_time: string, expr: string, labels: string, value: number) => ({
    eval_time,
    expr,
    exp_samples: [{ labels: `${expr}${labels}`, value }],
  })
  const route = '{bridge="n", chain="a"}'
  const promql_expr_test = [
    is('80m', 'portage:transfers_in_time:ratio_1h', route, 0.9),
    is('80m', 'portage:transfers_in_time:ratio_30d', route, 0.9),
    is('20m', 'portage:stream_fresh', `{stream="${stream}"}`, 1),
    is('40m', 'portage:stream_fresh', `{stream="${stream}"}`, 0),
    is('20m', 'portage:stream_fresh:ratio_30d', `{stream="${stream}"}`, 1),
    is('80m', 'portage:lane_spent:ratio', `{lane="${lane}", window="day"}`, 0.3),
  ]
  await promtoolAccepts('objectives', [{ interval: '1m', input_series: inputs(series), promql_expr_test }])
})

const named = (name: string, process: string) =>
  name.includes('{') ? name.replace('}', `,pod="${process}"}`) : `${name}{pod="${process}"}`

function quietly(series: Series, ...times: readonly string[]) {
  const alert_rule_test = rules.flatMap(({ alert }) => times.map((eval_time) => ({ eval_time, alertname: alert })))
  return { interval: '1m', input_series: inputs(series), alert_rule_test }
}

function inputs(series: Series) {
  return Object.entries(series).map(([name, values]) => ({ series: name, values }))
}

function shown(summary: string, labels: Readonly<Record<string, string>>, value = ''): string {
  return summary
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? '')
    .replaceAll(/\{\{ \$value[^}]*\}\}/g, value)
}

async function promtoolAccepts(name: string, tests: readonly object[]): Promise<void> {
  const file = join(dir, `${name}.yml`)
  await writeFile(file, stringify({ rule_files: [rulesFile, objectivesFile], evaluation_interval: '1m', tests }))
  const { code, stdout, stderr } = await run(promtool, ['test', 'rules', file], { timeoutMs: 170_000 })
  expect([code, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')])
}
