import { ageText } from '../../domain/text/age.ts'
import type { Cause } from '../../domain/catalogue/cause.ts'
import { shortTransfer } from '../../domain/text/short-id.ts'
import type { CauseReport } from '../../operations/causes/collect.ts'
import { type Part, type Shortened, table, type Text, verbatim } from './output.ts'

/** Ends with the first 64 bits of the digest. */
const transferId = /^[\w-]+(:[\w-]+)+:[0-9a-f]{16}$/
const width = 80

/** A row for each cause, then its text, ids and commands. @param now ms since the epoch */
export function stuckText({ asOf, causes }: CauseReport, now: number): Text {
  const read = `read ${asOf.slice(0, 19)}Z`
  if (causes.length === 0) return `Nothing is stuck (${read}).`
  const age = (time: string | undefined) => (time === undefined ? undefined : ageText(now - Date.parse(time)))
  const rows = causes.map(({ code, where, count, since, oldest }, index) => [
    index + 1,
    code,
    count,
    age(since),
    age(oldest),
    placeCell(where),
  ])
  return [
    `${causes.length} ${causes.length === 1 ? 'cause' : 'causes'}, the most harmful first (${read})`,
    table(['', 'cause', 'holds', 'since', 'oldest', 'where'], rows),
    ...causes.map(detail),
  ]
}

/** Ids and commands are never wrapped: they can be copied. */
function detail({ code, what, where, examples, next }: Cause, index: number): Part {
  const short = (text: string) => examples.reduce((known, id) => known.replaceAll(id, shortId(id)), text)
  const lines = [
    ...wrapped(`${index + 1} ${code}, ${where.kind} ${where.id}: ${what}`),
    ...examples.map((id) => `    ${shortId(id)}`),
    ...next.map((command) => `  → ${short(command)}`),
  ]
  return verbatim(lines.join('\n'))
}

/** Only ids of transfers are shortened. */
function shortId(id: string): string {
  return transferId.test(id) ? shortTransfer(id) : id
}

function placeCell({ kind, id }: Cause['where']): Shortened {
  const most = 24
  return { full: `${kind} ${id}`, short: `${kind} ${id.length > most ? `…${id.slice(1 - most)}` : id}` }
}

/** A longer word stays whole: it may be an id. */
function wrapped(text: string): string[] {
  return text.split(' ').reduce<string[]>((lines, word) => {
    const last = lines.at(-1)
    if (last === undefined) return [word]
    return last.length + word.length < width ? [...lines.slice(0, -1), `${last} ${word}`] : [...lines, `  ${word}`]
  }, [])
}
