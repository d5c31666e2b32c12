import { type CauseReport, collectCauses } from '../../operations/causes/collect.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { withTemporalClient } from '../../temporal/client/connection/connect.ts'
import { wrapProse } from '../output/layout.ts'
import type { CommandSpec } from '../command.ts'
import { ageText } from '../../domain/text/age.ts'
import type { Cause } from '../../domain/catalogue/cause.ts'
import { lastPart } from '../../domain/text/short-id.ts'
import { type Part, type Shortened, table, type Text, verbatim } from '../output/output.ts'

export const stuckCommand: CommandSpec = {
  description: 'Causes of stuck transfers and their remedies: one row for each cause, the most harmful first.',
  notes: `The command reads Temporal, every node, the guardian spy, the sources of prices and the ledgers now. Each read has a time limit. The command changes nothing.
docs/runbooks/README.md has the steps for each cause. The exit code is 0 if nothing is stuck, otherwise 1. The command shows transfers that the deny-list declined, but they do not count as stuck.`,
  examples: ['portage stuck', 'portage stuck --json'],
  run: async ({ config: load, temporalOf, context }) => {
    const config = await load()
    const options = { config, environment: context.env }
    const report = await withTemporalClient(temporalOf(config), (client) => collectCauses(client, options)).catch((error: unknown) => {
      if (error instanceof RelayerError && !notTemporal.has(error.code)) return collectCauses(error, options)
      throw error
    })
    return { json: report, text: stuckText(report, Date.now()), failed: report.stuck }
  },
}

const notTemporal: ReadonlySet<string> = new Set(['CONFIG_INVALID', 'INPUT_INVALID', 'INTERNAL'])

const transferId = /^[\w-]+(:[\w-]+)+:[0-9a-f]{16}$/
const width = 80

/** A table of the causes, followed by the text, ids and commands of each cause. `now` is ms since the epoch. */
export function stuckText({ asOf, causes }: CauseReport, now: number): Text {
  const read = `read ${asOf.slice(0, 19)}Z`
  if (causes.length === 0) return `Nothing is stuck (${read}).`
  const age = (time: string | undefined) => (time === undefined ? undefined : ageText(now - Date.parse(time)))
  const rows = causes.map(({ code, where, count, since, oldest }, index) => ({
    ...{ '': index + 1, cause: code, holds: count },
    ...{ since: age(since), oldest: age(oldest), where: placeCell(where) },
  }))
  return [
    `${causes.length} ${causes.length === 1 ? 'cause' : 'causes'}, the most harmful first (${read})`,
    table(rows),
    ...causes.map(detail),
  ]
}

/** Ids and commands are never wrapped, because people copy them. */
function detail({ code, what, where, examples, remedy, next }: Cause, index: number): Part {
  const short = (text: string) => examples.reduce((known, id) => known.replaceAll(id, shortId(id)), text)
  const lines = [
    ...wrapProse(`${index + 1} ${code}, ${where.kind} ${where.id}: ${what}`, width),
    ...wrapProse(`  ${remedy}`, width),
    ...examples.map((id) => `    ${shortId(id)}`),
    ...next.map((command) => `  → ${short(command)}`),
  ]
  return verbatim(lines.join('\n'))
}

function shortId(id: string): string {
  return transferId.test(id) ? lastPart(id) : id
}

function placeCell({ kind, id }: Cause['where']): Shortened {
  const most = 24
  return { full: `${kind} ${id}`, short: `${kind} ${id.length > most ? `…${id.slice(1 - most)}` : id}` }
}
