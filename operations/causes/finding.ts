import { z } from 'zod'
import { type CauseCode, causeCatalogue, remedyOf } from '../../domain/catalogue/catalogue.ts'
import { type Cause, type CauseValues, commandsOf } from '../../domain/catalogue/cause.ts'
import { groupBy } from '../../domain/group-by.ts'
import { ageText } from '../../domain/text/age.ts'
import { printable } from '../../domain/text/printable.ts'
import type { TransferFacts } from './facts.ts'
import { causeSchema } from './schema.ts'

const mostExamples = 3

/** Times are ms since the epoch. */
export interface Finding {
  readonly row: CauseCode
  readonly code?: string
  readonly what: string
  readonly where: Cause['where']
  readonly since?: number | undefined
  readonly asOf: number
  readonly values?: CauseValues
  readonly holds?: (transfer: TransferFacts) => boolean
  readonly numbers?: Numbers
  /** Beginnings of commands in the catalogue that would not help here, or would do harm. */
  readonly useless?: readonly string[]
  /** If there is a finding with one of these codes and this id, this finding becomes part of it. */
  readonly partOf?: { readonly rows: readonly CauseCode[]; readonly id: string }
}

interface Numbers {
  readonly count: number
  readonly oldest?: number | undefined
  readonly examples?: readonly string[]
}

/**
 * The findings of `explainer`, or one row that names the explainer if it throws or if a finding makes no valid cause.
 * Anyone with access to Temporal can forge the answers of workflows, so both can happen.
 */
export function isolated(part: string, asOf: number, explainer: () => readonly Finding[]): readonly Finding[] {
  try {
    const findings = explainer()
    for (const finding of findings) causeSchema.parse(causeOf(finding, []))
    return findings
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error)
    return [{ row: 'UNREAD', what: `Could not be explained: ${part}. ${why}`, where: { kind: 'temporal', id: part }, asOf }]
  }
}

/** For a part of an explainer that reads many states: a forged state must not hide the others. */
export function orElse<Value>(instead: Value, ask: () => Value): Value {
  try {
    return ask()
  } catch {
    return instead
  }
}

export function joined(findings: readonly Finding[]): Finding[] {
  const byRoot = groupBy(findings, (finding) => reasonOf(finding, findings) ?? finding)
  return [...byRoot].map(([root, group]) => ({ ...root, numbers: sum(group.flatMap(({ numbers }) => numbers ?? [])) }))
}

function reasonOf({ partOf }: Finding, findings: readonly Finding[]): Finding | undefined {
  return partOf && findings.find(({ row, where, partOf: deeper }) => !deeper && partOf.rows.includes(row) && where.id === partOf.id)
}

function sum(all: readonly Numbers[]): Numbers {
  const oldest = all.flatMap((one) => one.oldest ?? [])
  return {
    count: all.reduce((total, { count }) => total + count, 0),
    oldest: oldest.length > 0 ? Math.min(...oldest) : undefined,
    examples: all.flatMap(({ examples = [] }) => examples),
  }
}

function causeOf(finding: Finding, transfers: readonly TransferFacts[]): Cause {
  const { row, code = row, what, where, since, asOf, values, holds, numbers, useless = [] } = finding
  const held = holds ? transfers.filter(holds).toSorted((a, b) => a.startedAt - b.startedAt) : []
  const examples = [...held.map(({ workflowId }) => workflowId), ...(numbers?.examples ?? [])].slice(0, mostExamples).map(printable)
  const begun = [held[0]?.startedAt, numbers?.oldest].filter((at) => at !== undefined)
  const id = held[0] && printable(held[0].workflowId)
  return {
    code,
    severity: causeCatalogue[row].severity,
    what: printable(what),
    where: { kind: where.kind, id: printable(where.id) },
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    asOf: new Date(asOf).toISOString(),
    count: Math.min(held.length + (numbers?.count ?? 0), Number.MAX_SAFE_INTEGER),
    ...(begun.length > 0 && { oldest: new Date(Math.min(...begun)).toISOString() }),
    examples,
    remedy: remedyOf(code) ?? causeCatalogue[row].remedy,
    next: commandsOf(row, { ...(id !== undefined && { id }), ...values }).filter(
      (command) => !useless.some((beginning) => command.startsWith(beginning)),
    ),
  }
}

const ranks = new Map(Object.keys(causeCatalogue).map((code, place) => [code, place]))

export function ranked(findings: readonly Finding[], transfers: readonly TransferFacts[]): Cause[] {
  const rows = findings.map((finding) => ({ place: ranks.get(finding.row) ?? ranks.size, cause: causeOf(finding, transfers) }))
  const sorted = rows.sort(
    (a, b) =>
      a.place - b.place ||
      b.cause.count - a.cause.count ||
      (a.cause.since ?? '9').localeCompare(b.cause.since ?? '9') ||
      a.cause.where.id.localeCompare(b.cause.where.id),
  )
  return sorted.map(({ cause }) => cause)
}

export function lastSign(since: number | undefined, at: number): string {
  return since === undefined ? '' : ` Last sign of one: ${ageText(at - since)} ago.`
}

export function goesOn({ state }: TransferFacts): boolean {
  return state !== 'parked'
}
