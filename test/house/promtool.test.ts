import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { cachedProgram } from '../../lab/alerts/prometheus.ts'
import { run } from '../../lab/devnet/run.ts'

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
  readonly annotations: { readonly summary: string; readonly runbook: string }
}

/** Series as promtool writes them, a value a minute: `0+1x5` is 0 1 2 3 4 5. */
type Series = Readonly<Record<string, string>>

interface Case {
  readonly series: Series
  /** The alert fires then, and not a minute after the start. */
  readonly at: string
  readonly labels: Readonly<Record<string, string>>
  /** What `{{ $value }}` shows. */
  readonly value?: string
}

const lane = 'evm-1:0xaa'
const stream = 'native-bridge:a:b'
const streamAlarm = (kind: string, at = '31m'): Case => ({
  series: { [`portage_stream_alarm{stream="${stream}",kind="${kind}"}`]: '0 0 1x60' },
  ...{ at, labels: { stream } },
})

/** What makes each alert fire: a minute or two of health, then the trouble. */
const cases: Readonly<Record<string, Case>> = {
  PortageEffectUndone: { series: { 'portage_effects_undone_total{chain="a"}': '0 0 1x20' }, at: '5m', labels: { chain: 'a' } },
  PortageLaneChainReplaced: { series: { [`portage_lane_state{lane="${lane}",state="replaced"}`]: '0 0 1x20' }, at: '5m', labels: { lane } },
  PortageExternalNonce: { series: { [`portage_lane_external_nonces_total{lane="${lane}"}`]: '0 0 1x20' }, at: '5m', labels: { lane } },
  PortageBridgeMismatch: {
    series: { 'portage_bridge_mismatch_total{route="n:a:b",code="X"}': '0 0 1x20' },
    ...{ at: '5m', labels: { route: 'n:a:b', code: 'X' } },
  },
  PortageSigningRefused: { series: { [`portage_lane_signing_refused{lane="${lane}"}`]: '0 0 2x20' }, at: '5m', labels: { lane } },
  PortageSpendingHigh: {
    series: {
      [`portage_lane_spent_wei{lane="${lane}",window="day"}`]: '10 10 90x20',
      [`portage_lane_spending_limit_wei{lane="${lane}",window="day"}`]: '100x22',
    },
    ...{ at: '5m', labels: { lane, window: 'day' }, value: '90%' },
  },
  PortageLaneWithoutFunds: { series: { [`portage_lane_state{lane="${lane}",state="funds"}`]: '0 0 1x20' }, at: '5m', labels: { lane } },
  PortageLaneNotServed: {
    series: { [`portage_lane_state{lane="${lane}",state="active",job="a"}`]: '1 1 1 _x30' },
    ...{ at: '12m', labels: { lane } },
  },
  PortageRoleNotReady: {
    series: {
      'portage_process_ready{role="ledger",instance="1"}': '1 1 0x30',
      'portage_process_ready{role="ledger",instance="2"}': '1 1 _x30',
    },
    ...{ at: '12m', labels: { role: 'ledger' } },
  },
  PortageProcessNotReady: {
    series: {
      'portage_process_ready{role="chain",instance="1"}': '1 1 0x30',
      'portage_process_ready{role="chain",instance="2"}': '1 1 0x30',
      'portage_process_ready{role="chain",instance="3"}': '1x31',
    },
    ...{ at: '15m', labels: { role: 'chain' }, value: '2' },
  },
  PortageWorkflowStuck: { series: { 'portage_workflows_stuck{type="lane"}': '0 0 3x20' }, at: '5m', labels: { type: 'lane' }, value: '3' },
  PortageNodesDown: {
    series: { 'portage_node_up{chain="a",node="1",use="all"}': '1 1 0x20', 'portage_node_up{chain="a",node="2",use="all"}': '1 1 0x20' },
    ...{ at: '5m', labels: { chain: 'a' } },
  },
  PortageNoQuorum: { series: { 'portage_chain_quorum{chain="a"}': '1 1 0x20' }, at: '5m', labels: { chain: 'a' } },
  PortageFinalityStands: {
    series: { 'portage_finalized_height{chain="a"}': '1 2 2x80', 'portage_head_height{chain="a"}': '1+1x80' },
    ...{ at: '70m', labels: { chain: 'a' } },
  },
  PortageChainStands: { series: { 'portage_head_age_seconds{chain="a"}': '0+60x30' }, at: '15m', labels: { chain: 'a' } },
  PortageStreamForked: streamAlarm('forked', '5m'),
  PortageStreamVanished: streamAlarm('vanished', '5m'),
  PortageStreamUnknownCompletion: streamAlarm('unknown-completion', '40m'),
  PortageStreamDistrusted: streamAlarm('distrusted', '5m'),
  PortageStreamStands: {
    series: {
      [`portage_stream_cursor_height{stream="${stream}"}`]: '1 2 2x30',
      [`portage_stream_lag_blocks{stream="${stream}"}`]: '0+1x30',
      [`portage_stream_paused{stream="${stream}"}`]: '0x31',
    },
    ...{ at: '20m', labels: { stream } },
  },
  PortageNodeDown: {
    series: { 'portage_node_up{chain="a",node="1",use="all"}': '1 1 0x30', 'portage_node_up{chain="a",node="2",use="all"}': '1x31' },
    ...{ at: '15m', labels: { chain: 'a', node: '1' } },
  },
  PortageNodeLags: {
    series: { 'portage_node_lag_blocks{chain="a",node="1"}': '0 0 9x30', 'portage_node_up{chain="a",node="1",use="all"}': '1x31' },
    ...{ at: '15m', labels: { chain: 'a', node: '1' }, value: '9' },
  },
  PortageSpyDisconnected: { series: { 'portage_spy_connected{bridge="w"}': '1 1 0x30' }, at: '10m', labels: { bridge: 'w' } },
  PortageLanePaused: { series: { [`portage_lane_state{lane="${lane}",state="paused"}`]: '0 0 1x80' }, at: '70m', labels: { lane } },
  PortageLaneUnauthorized: {
    series: { [`portage_lane_unauthorized{lane="${lane}",bridge="native-bridge"}`]: '0 0 1x20' },
    ...{ at: '10m', labels: { lane, bridge: 'native-bridge' } },
  },
  PortageGateClosed: {
    series: { 'portage_gate_waiting{route="n:a:b",code="BRIDGE_BUDGET"}': '0 0 4x80' },
    ...{ at: '70m', labels: { route: 'n:a:b', code: 'BRIDGE_BUDGET' }, value: '4' },
  },
  PortageStreamHidden: streamAlarm('hidden', '10m'),
  PortageStreamGap: { series: { [`portage_stream_oldest_gap_seconds{stream="${stream}"}`]: '0+60x80' }, at: '70m', labels: { stream } },
  PortageStreamWatermarkStands: {
    series: {
      [`portage_stream_completed_nonce_height{stream="${stream}"}`]: '1 2 2x80',
      [`portage_stream_open{stream="${stream}"}`]: '0 1 1x80',
    },
    ...{ at: '75m', labels: { stream } },
  },
  PortageStreamPaused: { series: { [`portage_stream_paused{stream="${stream}"}`]: '0 0 1x80' }, at: '70m', labels: { stream } },
  PortageStreamCheckpoint: streamAlarm('checkpoint', '5m'),
  PortageStreamRefused: streamAlarm('refused', '10m'),
  PortageStreamCrowded: streamAlarm('crowded', '10m'),
  PortageStreamCheckpointOld: {
    series: {
      [`portage_stream_checkpoint_age_seconds{stream="${stream}"}`]: '0+60x80',
      [`portage_stream_cursor_height{stream="${stream}"}`]: '1+1x80',
    },
    ...{ at: '70m', labels: { stream } },
  },
  PortageWorkflowReset: { series: { 'portage_workflows_reset_total{type="lane"}': '0 0 1x20' }, at: '5m', labels: { type: 'lane' } },
  PortageTransfersParked: {
    series: { 'portage_transfers{state="parked"}': '0 0 2x20', 'portage_transfers{state="delivered"}': '5x22' },
    ...{ at: '10m', labels: { state: 'parked' }, value: '2' },
  },
  PortageTransfersSlow: {
    series: {
      'portage_transfer_seconds_bucket{chain="a",bridge="n",le="300"}': '0+8x90',
      'portage_transfer_seconds_count{chain="a",bridge="n"}': '0+10x90',
    },
    ...{ at: '80m', labels: { chain: 'a', bridge: 'n' }, value: '80%' },
  },
  PortageTransfersReopened: { series: { 'portage_transfers_reopened_total{chain="a"}': '0 0 1x20' }, at: '5m', labels: { chain: 'a' } },
  PortageLaneFull: {
    series: {
      [`portage_lane_waiting{lane="${lane}"}`]: '0 0 3x40',
      [`portage_lane_in_flight{lane="${lane}"}`]: '16x42',
      [`portage_lane_window{lane="${lane}"}`]: '16x42',
    },
    ...{ at: '20m', labels: { lane } },
  },
  PortageLaneKeepsTooMany: {
    series: { [`portage_lane_kept_entries{lane="${lane}"}`]: '0 0 90x20', [`portage_lane_kept_entries_limit{lane="${lane}"}`]: '100x22' },
    ...{ at: '5m', labels: { lane }, value: '90' },
  },
  PortageHalted: { series: { portage_halts: '0 0 1x80' }, at: '70m', labels: {} },
}

/** A fleet that is well: heights grow, gauges of trouble are 0, counters of trouble stand. */
const healthy: Series = {
  'portage_node_up{chain="a",node="1",use="all"}': '1x120',
  'portage_chain_quorum{chain="a"}': '1x120',
  'portage_node_lag_blocks{chain="a",node="1"}': '1x120',
  'portage_spy_connected{bridge="w"}': '1x120',
  'portage_process_ready{role="chain",instance="1"}': '1x120',
  // Away for a minute, as in an upgrade.
  'portage_process_ready{role="chain",instance="2"}': '1x20 0 1x98',
  'portage_process_ready{role="ledger",instance="3"}': '1x20 _ 1x98',
  'portage_head_height{chain="a"}': '1+5x120',
  'portage_head_age_seconds{chain="a"}': '12x120',
  'portage_finalized_height{chain="a"}': '1+5x120',
  [`portage_lane_in_flight{lane="${lane}"}`]: '3x120',
  [`portage_lane_window{lane="${lane}"}`]: '16x120',
  [`portage_lane_waiting{lane="${lane}"}`]: '0x120',
  [`portage_lane_kept_entries{lane="${lane}"}`]: '3x120',
  [`portage_lane_kept_entries_limit{lane="${lane}"}`]: '100x120',
  [`portage_lane_spent_wei{lane="${lane}",window="day"}`]: '0+0.1x120',
  [`portage_lane_spending_limit_wei{lane="${lane}",window="day"}`]: '100x120',
  [`portage_lane_state{lane="${lane}",state="ready"}`]: '1x120',
  [`portage_lane_state{lane="${lane}",state="funds"}`]: '0x120',
  [`portage_lane_state{lane="${lane}",state="replaced"}`]: '0x120',
  [`portage_lane_external_nonces_total{lane="${lane}"}`]: '1x120',
  'portage_effects_undone_total{chain="a"}': '2x120',
  'portage_workflows_reset_total{type="lane"}': '1x120',
  [`portage_stream_cursor_height{stream="${stream}"}`]: '1+5x120',
  [`portage_stream_lag_blocks{stream="${stream}"}`]: '2x120',
  [`portage_stream_open{stream="${stream}"}`]: '4x120',
  [`portage_stream_completed_nonce_height{stream="${stream}"}`]: '0+1x120',
  [`portage_stream_oldest_gap_seconds{stream="${stream}"}`]: '0x120',
  [`portage_stream_checkpoint_age_seconds{stream="${stream}"}`]: '30x120',
  [`portage_stream_paused{stream="${stream}"}`]: '0x120',
  [`portage_stream_alarm{stream="${stream}",kind="forked"}`]: '0x120',
  'portage_transfers{state="parked"}': '0x120',
  'portage_transfers{state="delivered"}': '0+7x120',
  'portage_transfer_seconds_bucket{chain="a",bridge="n",le="300"}': '0+7x120',
  'portage_transfer_seconds_count{chain="a",bridge="n"}': '0+7x120',
  portage_halts: '0x120',
}

let dir = ''
let rules: readonly Rule[] = []
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portage-promtool-'))
  const { groups } = parse(await readFile(rulesFile, 'utf8')) as { groups: { rules: Rule[] }[] }
  rules = groups.flatMap((group) => group.rules)
})
afterAll(() => rm(dir, { recursive: true }))

test('each rule has a case, and each case a rule', () => {
  expect(Object.keys(cases)).toEqual(rules.map(({ alert }) => alert))
})

test.runIf(found)('each alert fires on what it is for, with the text that a person then reads, and not before', async () => {
  const tests = rules.map(({ alert, labels: { severity }, annotations }) => {
    const { series, at, labels, value } = cases[alert]!
    const expected = {
      exp_labels: { severity, ...labels },
      exp_annotations: { ...annotations, summary: shown(annotations.summary, labels, value) },
    }
    return {
      ...{ interval: '1m', input_series: inputs(series) },
      alert_rule_test: [
        { eval_time: '1m', alertname: alert },
        { eval_time: at, alertname: alert, exp_alerts: [expected] },
      ],
    }
  })
  await promtoolAccepts('fires', tests)
})

test.runIf(found)('none fires while all is well', async () => {
  await promtoolAccepts('healthy', [quietly(healthy, '20m', '119m')])
})

test.runIf(found)('none fires when a process starts, or has ended: its series have few values then', async () => {
  const hour = 60
  const of = (process: string, values: (values: string) => string) =>
    Object.entries(healthy).map(([name, all]) => [named(name, process), values(all)] as const)
  // What grows goes on where the other process left it; counters, too, which is no worse.
  const started = of('new', (values) => {
    const [, from = '', more = '', each = '0'] = /^(\d+)(\+([\d.]+))?x/.exec(values) ?? []
    return `_x${hour} ${Number(from) + hour * Number(each)}${more}x${hour - 1}`
  })
  const ended = of('old', (values) => `${values.replace(/x.*$/, '')}x${hour - 1} stale`)
  const times = ['60m', '61m', '62m', '65m', '68m', '69m', '70m', '71m', '74m', '75m', '76m', '80m', '100m', '118m', '119m']
  const both = Object.fromEntries([...started, ...ended])
  await promtoolAccepts('started', [quietly(Object.fromEntries(started), ...times), quietly(both, ...times)])
})

test.runIf(found)('a stream that is paused has an old checkpoint, and no alert of it: what was read is in it', async () => {
  const paused = {
    // The API hears of the last block a little after the checkpoint was written.
    [`portage_stream_cursor_height{stream="${stream}"}`]: '1+1x22 23x70',
    [`portage_stream_checkpoint_age_seconds{stream="${stream}"}`]: '30x19 60+60x80',
  }
  const alert_rule_test = ['70m', '78m', '79m', '80m', '81m', '85m'].map((eval_time) => ({
    eval_time,
    alertname: 'PortageStreamCheckpointOld',
  }))
  await promtoolAccepts('paused', [{ interval: '1m', input_series: inputs(paused), alert_rule_test }])
})

test.runIf(found)('the objectives are what docs/slo.md says of them', async () => {
  const series = {
    'portage_transfer_seconds_bucket{chain="a",bridge="n",le="300",pod="1"}': '0+8x90',
    'portage_transfer_seconds_count{chain="a",bridge="n",pod="1"}': '0+10x90',
    'portage_transfer_seconds_bucket{chain="a",bridge="n",le="300",pod="2"}': '0+10x90',
    'portage_transfer_seconds_count{chain="a",bridge="n",pod="2"}': '0+10x90',
    // The second reads nothing; the first has read what was final a minute ago until it stands.
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

/** A series of one of several processes. */
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
  const { code, stdout, stderr } = await run(promtool, ['test', 'rules', file], { timeoutMs: 60_000 })
  expect([code, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')])
}
