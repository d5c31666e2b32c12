import type { ActiveAlert, Prometheus } from './prometheus.ts'
import type { Scenario } from './scenarios.ts'
import { pause } from '../../runtime/wait.ts'

const everyMs = 500
/** Time without pending or firing alerts before the next fault, ms. */
const quietMs = 5_000
/** Time for which a watch continues after the expected alert, to see further alerts of the same fault, ms. */
const lingerMs = 8_000

export type Firing = ReadonlyMap<string, ActiveAlert['labels']>

const keyOf = (labels: ActiveAlert['labels']) => JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))

async function look(prometheus: Prometheus): Promise<{ firing: Firing; pending: number } | undefined> {
  const alerts = await prometheus.alerts().catch(() => undefined)
  if (!alerts) return undefined
  const firing = alerts.filter(({ state }) => state === 'firing').map(({ labels }) => [keyOf(labels), labels] as const)
  return { firing: new Map(firing), pending: alerts.length - firing.length }
}

export function isExpected({ alert, labels = {} }: Pick<Scenario, 'alert' | 'labels'>, found: ActiveAlert['labels']): boolean {
  return found.alertname === alert && Object.entries(labels).every(([name, value]) => found[name] === value)
}

export function strangers(
  { alert, consequences = [] }: Pick<Scenario, 'alert' | 'consequences'>,
  found: readonly ActiveAlert['labels'][],
): string[] {
  const known = new Set([alert, ...consequences])
  return [...new Set(found.map(({ alertname }) => alertname))].filter((name) => !known.has(name)).toSorted()
}

export interface Watched {
  /** Time until the condition held, ms. Undefined if it never held. */
  readonly afterMs: number | undefined
  readonly fired: readonly ActiveAlert['labels'][]
}

/**
 * Collects firing alerts until `holds` returns true, for at most `withinMs`. With `linger`, continues for another
 * `lingerMs`.
 */
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
    await pause(everyMs)
  }
  return { afterMs, fired: [...fired.values()] }
}

/** Resolves with true once no alert has been pending or firing for `quietMs`, and with false after `withinMs`. */
export async function untilQuiet(prometheus: Prometheus, withinMs: number): Promise<boolean> {
  let since: number | undefined
  const quiet = (firing: Firing, pending: number) => {
    since = firing.size + pending === 0 ? (since ?? Date.now()) : undefined
    return since !== undefined && Date.now() - since >= quietMs
  }
  return (await watch(prometheus, quiet, { withinMs })).afterMs !== undefined
}
