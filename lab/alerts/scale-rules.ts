import { parser } from '@prometheus-io/lezer-promql'
import { parse, stringify } from 'yaml'

/** Lower bounds of scaled times, s. Each covers several scrapes, so that one late scrape does not fire an alert. */
const least = { for: 3, range: 6 } as const

const unitSeconds: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800, y: 31_536_000 }

/** Seconds of a duration like `1h30m`. Throws Error for other texts. */
export function durationSeconds(text: string): number {
  const parts = [...text.matchAll(/(\d+)(ms|[smhdwy])/g)]
  if (parts.length === 0 || parts.map(([all]) => all).join('') !== text) throw new Error(`${text} is not a Prometheus duration`)
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitSeconds[unit] ?? 0), 0)
}

/** Divides a duration by `scale`. The result is at least `atLeast` seconds. Durations below `atLeast` do not change. */
function shorter(text: string, scale: number, atLeast: number): string {
  const seconds = durationSeconds(text)
  return `${Math.round(Math.max(seconds / scale, Math.min(seconds, atLeast)) * 1_000)}ms`
}

/**
 * Divides ranges, offsets, and the numbers with which metrics in seconds are compared. Bounds of histogram buckets do
 * not change, because transfers take their real time.
 */
export function scaleExpression(expr: string, scale: number): string {
  const changes: { from: number; to: number; text: string }[] = []
  parser.parse(expr).iterate({
    enter: ({ name, from, to, node }) => {
      const text = expr.slice(from, to)
      if (name === 'NumberDurationLiteralInDurationContext') changes.push({ from, to, text: shorter(text, scale, least.range) })
      if (name !== 'NumberDurationLiteral' || node.parent?.name !== 'BinaryExpr') return
      const compared = ['Gtr', 'Lss', 'Gte', 'Lte'].some((operator) => node.parent?.getChild(operator))
      const other = node.parent.firstChild
      if (compared && other && /_seconds\b/.test(expr.slice(other.from, other.to)))
        changes.push({ from, to, text: String(Number(text) / scale) })
    },
  })
  return changes.toSorted((a, b) => b.from - a.from).reduce((all, { from, to, text }) => all.slice(0, from) + text + all.slice(to), expr)
}

interface Rule {
  readonly alert?: string
  readonly record?: string
  readonly expr: string
  readonly for?: string
}

/** Divides all times of a Prometheus rule file. Names, labels and texts do not change. */
export function scaleRules(text: string, scale: number): string {
  const { groups } = parse(text) as { groups: { name: string; interval?: string; rules: Rule[] }[] }
  const scaled = groups.map((group) => ({
    ...group,
    ...(group.interval !== undefined && { interval: shorter(group.interval, scale, least.for) }),
    rules: group.rules.map((rule) => ({
      ...rule,
      expr: scaleExpression(rule.expr, scale),
      ...(rule.for !== undefined && { for: shorter(rule.for, scale, least.for) }),
    })),
  }))
  return stringify({ groups: scaled })
}

/** Seconds until an alert fires, by alert: the rule's `for`, plus the longest time in the expression. */
export function alertSeconds(text: string): ReadonlyMap<string, number> {
  const { groups } = parse(text) as { groups: { rules: Rule[] }[] }
  const times = groups
    .flatMap(({ rules }) => rules)
    .flatMap(({ alert, expr, for: pending }): [string, number][] => {
      if (alert === undefined) return []
      const own = pending === undefined ? 0 : durationSeconds(pending)
      return [[alert, own + longestTime(expr)]]
    })
  return new Map(times)
}

function longestTime(expr: string): number {
  let longest = 0
  parser.parse(expr).iterate({
    enter: ({ name, from, to, node }) => {
      const text = expr.slice(from, to)
      if (name === 'NumberDurationLiteralInDurationContext') longest = Math.max(longest, durationSeconds(text))
      const other = name === 'NumberDurationLiteral' && node.parent?.name === 'BinaryExpr' ? node.parent.firstChild : undefined
      if (other && /_seconds\b/.test(expr.slice(other.from, other.to))) longest = Math.max(longest, Number(text))
    },
  })
  return longest
}
