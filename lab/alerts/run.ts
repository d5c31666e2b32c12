import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { sendWish, wishOf } from '../demo/load.ts'
import { type Devnet, startDevnet } from '../devnet/index.ts'
import type { ConfigInput } from '../devnet/relayer-config.ts'
import { type Prometheus, startPrometheus } from './prometheus.ts'
import { type AlertReceiver, startAlertReceiver } from './receiver.ts'
import { RoleFleet } from './role-fleet.ts'
import { alertSeconds, scaleRules } from './scale-rules.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { isExpected, strangers, untilQuiet, watch } from './watch.ts'
import { pause } from '../../runtime/wait.ts'

export interface AlertRun {
  readonly scale: number
  readonly only?: readonly string[] | undefined
}

export interface FaultResult {
  readonly fault: string
  readonly alert: string
  /** Seconds from the fault to the alert. Undefined if the alert did not fire. */
  readonly firedAfterSeconds: number | undefined
  /**
   * Seconds that the rule, with its scaled times, waits before it fires. `withinSeconds` is `slackSeconds` longer, and
   * is the limit of `firedAfterSeconds`.
   */
  readonly ruleSeconds: number
  readonly withinSeconds: number
  /** Seconds from the end of the fault until no alert was firing. Undefined if an alert never stopped firing. */
  readonly resolvedAfterSeconds: number | undefined
  readonly others: readonly string[]
  readonly consequences: readonly string[]
}

export interface AlertSummary {
  readonly prometheus: string
  readonly scale: number
  readonly results: readonly FaultResult[]
  readonly before: readonly string[]
  /** Processes that ended although no fault killed them. */
  readonly ended: readonly string[]
  readonly panels: { readonly asked: number; readonly refused: readonly string[]; readonly empty: number }
}

const deploy = fileURLToPath(new URL('../../deploy', import.meta.url))
/** Seconds that processes, nodes and Prometheus may need on a busy machine to notice a change. */
const slackSeconds = 60

export function isClean({ results, before, ended, panels }: AlertSummary): boolean {
  const good = ({ firedAfterSeconds, resolvedAfterSeconds, others }: FaultResult) =>
    firedAfterSeconds !== undefined && resolvedAfterSeconds !== undefined && others.length === 0
  return results.every(good) && before.length + ended.length + panels.refused.length === 0
}

/** Adds the receiver, and sets an audit interval of 3 s, because `scale` does not divide Portage's own intervals. */
function quick(config: ConfigInput, receiver: AlertReceiver): ConfigInput {
  return { ...config, streams: { ...config.streams, auditMinutes: 0.05 }, notifications: [receiver.configured] }
}

export async function runAlerts(prometheusPath: string, { scale, only }: AlertRun, say: (line: string) => void): Promise<AlertSummary> {
  const chosen = scenarios.filter(({ fault }) => only === undefined || only.includes(fault))
  const files = (await readdir(join(deploy, 'prometheus'))).filter((file) => file.endsWith('.yml'))
  const rules = await Promise.all(files.map((file) => readFile(join(deploy, 'prometheus', file), 'utf8')))
  const seconds = new Map(rules.flatMap((text) => [...alertSeconds(text)]))
  const devnet = await startDevnet({ nodesPerChain: 3, native: 'fixed', ui: false, log: say })
  const stops: (() => Promise<unknown>)[] = [() => devnet.stop()]
  try {
    const scaled = rules.map((text) => scaleRules(text, scale))
    const prometheus = await startPrometheus(prometheusPath, scaled, join(devnet.dir, 'prometheus'))
    stops.push(() => prometheus.stop())
    const connection = await Connection.connect({ address: devnet.temporal.address })
    stops.push(() => connection.close())
    const receiver = await startAlertReceiver(devnet.dir)
    stops.push(() => receiver.stop())
    const fleet = new RoleFleet(
      devnet,
      (config) => quick(config, receiver),
      (targets) => prometheus.scrape(targets),
    )
    stops.push(() => fleet.stop())
    await fleet.whole()
    say(`Prometheus ${prometheus.version} evaluates ${rules.length} rule files, with all times divided by ${scale}.`)
    const traffic = startTraffic(devnet)
    stops.push(() => traffic.stop())
    const scene = { devnet, client: new Client({ connection }), fleet, receiver }
    // Wait 30 s, so that the rules have data for their ranges, and the first blocks and transfers exist.
    const warm = await watch(prometheus, () => false, { withinMs: 30_000 })
    const panels = await askPanels(prometheus, scale)
    const results: FaultResult[] = []
    for (const scenario of chosen) {
      if (!(await untilQuiet(prometheus, 180_000))) say(`${scenario.fault}: another alert is still firing`)
      const result = await one(prometheus, scenario, scene, traffic, (seconds.get(scenario.alert) ?? 0) / scale)
      results.push(result)
      say(tell(result))
    }
    const before = [...new Set(warm.fired.map(({ alertname }) => alertname))]
    return { prometheus: prometheus.version, scale, results, before, ended: fleet.ended, panels }
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
}

async function one(
  prometheus: Prometheus,
  scenario: Scenario,
  scene: Parameters<Scenario['inject']>[0],
  traffic: Traffic,
  ruleSeconds: number,
): Promise<FaultResult> {
  traffic.set(scenario.traffic)
  const withinSeconds = ruleSeconds + slackSeconds
  const heal = await scenario.inject(scene)
  const fault = await watch(prometheus, (firing) => [...firing.values()].some((labels) => isExpected(scenario, labels)), {
    withinMs: withinSeconds * 1_000,
    linger: true,
  })
  await heal()
  const after = await watch(prometheus, (firing) => firing.size === 0, { withinMs: (withinSeconds + slackSeconds) * 1_000 })
  traffic.set(true)
  const fired = [...fault.fired, ...after.fired]
  const names = new Set(fired.map(({ alertname }) => alertname))
  return {
    ...{ fault: scenario.fault, alert: scenario.alert, ruleSeconds, withinSeconds },
    firedAfterSeconds: inSeconds(fault.afterMs),
    resolvedAfterSeconds: inSeconds(after.afterMs),
    others: strangers(scenario, fired),
    consequences: (scenario.consequences ?? []).filter((name) => names.has(name)),
  }
}

const inSeconds = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms / 100) / 10)

export function tell({ fault, alert, firedAfterSeconds, withinSeconds, resolvedAfterSeconds, others, consequences }: FaultResult): string {
  const fired =
    firedAfterSeconds === undefined ? `NOT within ${withinSeconds} s` : `after ${firedAfterSeconds} s (limit ${withinSeconds} s)`
  const resolved = resolvedAfterSeconds === undefined ? 'NOT resolved' : `resolved after ${resolvedAfterSeconds} s`
  const more = others.length > 0 ? `; OTHERS: ${others.join(', ')}` : ''
  const with_ = consequences.length > 0 ? `; with ${consequences.join(', ')}` : ''
  return `${fault}: ${alert} ${fired}, ${resolved}${with_}${more}`
}

interface Traffic {
  set(on: boolean): void
  stop(): Promise<void>
}

function startTraffic(devnet: Devnet): Traffic {
  let [on, stopped] = [true, false]
  const send = async () => {
    for (let index = 0; !stopped; index++) {
      // Sending fails on a stalled chain. This does not matter, because the run judges only alerts.
      if (on)
        await sendWish(devnet, index % 2 === 0 ? 'ethereum' : 'bsc', wishOf('both', [index * 2, index * 2 + 1])).catch(() => undefined)
      await pause(3_000)
    }
  }
  const sending = send()
  return {
    set: (value) => void (on = value),
    stop: () => {
      stopped = true
      return sending
    },
  }
}

async function askPanels(prometheus: Prometheus, scale: number): Promise<AlertSummary['panels']> {
  const files = (await readdir(join(deploy, 'grafana'))).filter((file) => file.endsWith('.json'))
  const expressions: string[] = []
  for (const file of files) {
    const { panels } = JSON.parse(await readFile(join(deploy, 'grafana', file), 'utf8')) as { panels: { targets?: { expr: string }[] }[] }
    expressions.push(...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)))
  }
  const refused: string[] = []
  let empty = 0
  for (const expr of expressions) {
    const sent = expr.replaceAll('$__rate_interval', `${Math.max(10, 300 / scale)}s`).replaceAll(/"\$\w+"/g, '".+"')
    try {
      if ((await prometheus.count(sent)) === 0) empty += 1
    } catch (error) {
      refused.push(`${sent}: ${String(error)}`)
    }
  }
  return { asked: expressions.length, refused, empty }
}
