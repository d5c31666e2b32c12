import { setTimeout as sleep } from 'node:timers/promises'
import type { ActiveAlert, Prometheus } from './prometheus.ts'
import type { Scenario } from './scenarios.ts'

const everyMs = 500
/** So long nothing may be pending or firing before the next fault. */
const quietMs = 5_000
/** How long alerts that came with the fault are awaited after the alert that belongs to it. */
const lingerMs = 8_000

/** Firing alerts, each by its name and labels. */
export type Firing = ReadonlyMap<string, ActiveAlert['labels']>

const keyOf = (labels: ActiveAlert['labels']) => JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** The answer of Prometheus at one moment; nothing if it does not answer in time. */
async function look(prometheus: Prometheus): Promise<{ firing: Firing; pending: number } | undefined> {
  const alerts = await prometheus.alerts().catch(() => undefined)
  if (!alerts) return undefined
  const firing = alerts.filter(({ state }) => state === 'firing').map(({ labels }) => [keyOf(labels), labels] as const)
  return { firing: new Map(firing), pending: alerts.length - firing.length }
}

/** Whether this alert is the one that the fault is for. */
export function isExpected({ alert, labels = {} }: Pick<Scenario, 'alert' | 'labels'>, found: ActiveAlert['labels']): boolean {
  return found.alertname === alert && Object.entries(labels).every(([name, value]) => found[name] === value)
}

/** Names of alerts that are neither what the fault is for nor what follows from it. */
export function strangers(
  { alert, consequences = [] }: Pick<Scenario, 'alert' | 'consequences'>,
  found: readonly ActiveAlert['labels'][],
): string[] {
  const known = new Set([alert, ...consequences])
  return [...new Set(found.map(({ alertname }) => alertname))].filter((name) => !known.has(name)).toSorted()
}

export interface Watched {
  /** Until the condition was met; undefined: it was not. */
  readonly afterMs: number | undefined
  /** All that fired meanwhile. */
  readonly fired: readonly ActiveAlert['labels'][]
}

/** Looks until the condition holds, and some time longer if asked, or the time is over. */
export async function watch(
  prometheus: Prometheus,
  holds: (firing: Firing, pending: number) => boolean,
  { withinMs, linger = false }: { readonly withinMs: number; readonly linger?: boolean },
): Promise<Watched> {
  const started = Date.now()
  const fired = new Map<string, ActiveAlert['labels']>()
  let afterMs: number | undefined
  for (;;) {
    const seen = await look(prometheus)
    for (const [key, labels] of seen?.firing ?? []) fired.set(key, labels)
    const now = Date.now() - started
    if (afterMs === undefined && seen && holds(seen.firing, seen.pending)) afterMs = now
    if (afterMs !== undefined && (!linger || now - afterMs >= lingerMs)) break
    if (afterMs === undefined && now > withinMs) break
    await sleep(everyMs)
  }
  return { afterMs, fired: [...fired.values()] }
}

/** Resolves when nothing has been pending or firing for a while; false: something still is. */
export async function untilQuiet(prometheus: Prometheus, withinMs: number): Promise<boolean> {
  let since: number | undefined
  const quiet = (firing: Firing, pending: number) => {
    since = firing.size + pending === 0 ? (since ?? Date.now()) : undefined
    return since !== undefined && Date.now() - since >= quietMs
  }
  return (await watch(prometheus, quiet, { withinMs })).afterMs !== undefined
}
