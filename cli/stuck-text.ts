import { ageText } from '../domain/age.ts'
import type { Cause } from '../domain/cause.ts'
import type { CauseReport } from '../causes/collect.ts'
import { table } from './output.ts'

/** Columns of a terminal. */
const width = 80

/** One row for each cause, then of each what is wrong, some ids, and the commands. @param now ms since the epoch */
export function stuckText({ asOf, causes }: CauseReport, now: number): string {
  const read = `read ${asOf.slice(0, 19)}Z`
  if (causes.length === 0) return `Nothing is stuck (${read}).`
  const age = (time: string | undefined) => (time === undefined ? undefined : ageText(now - Date.parse(time)))
  const rows = causes.map(({ code, where, count, since, oldest }, index) => [
    index + 1,
    code,
    count,
    age(since),
    age(oldest),
    placeText(where),
  ])
  const headings = ['', 'cause', 'holds', 'since', 'oldest', 'where']
  const lines = table(headings, rows)
    .split('\n')
    .map((line) => (line.length > width ? `${line.slice(0, width - 1)}…` : line))
  return [
    `${causes.length} ${causes.length === 1 ? 'cause' : 'causes'}, the most harmful first (${read})`,
    lines.join('\n'),
    ...causes.map(detail),
  ].join('\n\n')
}

function detail({ code, what, where, examples, next }: Cause, index: number): string {
  return [
    ...wrapped(`${index + 1} ${code}, ${where.kind} ${where.id}: ${what}`),
    ...examples.map((id) => `    ${id}`),
    ...next.map((command) => `  → ${command}`),
  ].join('\n')
}

/** The end of a long id tells most. */
function placeText({ kind, id }: Cause['where']): string {
  const most = 24
  return `${kind} ${id.length > most ? `…${id.slice(1 - most)}` : id}`
}

/** At words; a longer one stays whole, since it may be an id. */
function wrapped(text: string): string[] {
  return text.split(' ').reduce<string[]>((lines, word) => {
    const last = lines.at(-1)
    if (last === undefined) return [word]
    return last.length + word.length < width ? [...lines.slice(0, -1), `${last} ${word}`] : [...lines, `  ${word}`]
  }, [])
}
