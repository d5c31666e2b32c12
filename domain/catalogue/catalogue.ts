import { chainRows } from './chains.ts'
import { laneRows } from './lanes.ts'
import { messageRows } from './messages.ts'
import { notificationRows } from './notifications.ts'
import { operationRows, settingsRows } from './operation.ts'
import { type CauseRow, type ErrorRow, type Row, severities } from './row.ts'
import { streamRows } from './streams.ts'
import { temporalRows } from './temporal.ts'
import { transferRows } from './transfers.ts'

export const catalogue = {
  ...temporalRows,
  ...settingsRows,
  ...chainRows,
  ...laneRows,
  ...operationRows,
  ...messageRows,
  ...transferRows,
  ...streamRows,
  ...notificationRows,
}

type Catalogue = typeof catalogue
export type Code = keyof Catalogue
export type ErrorCode = { [One in Code]: Catalogue[One] extends ErrorRow ? One : never }[Code]
export type CauseCode = { [One in Code]: Catalogue[One] extends CauseRow ? One : never }[Code]

const rows: readonly (readonly [string, Row])[] = Object.entries(catalogue)
const ranks = Object.keys(severities)
const rank = ([, row]: readonly [string, Row]) => ranks.indexOf((row as CauseRow).severity)

export const errorCatalogue = Object.fromEntries(rows.filter(([, row]) => 'retriable' in row)) as unknown as Readonly<
  Record<ErrorCode, ErrorRow>
>

export const causeCatalogue = Object.fromEntries(
  rows.filter(([, row]) => 'severity' in row).toSorted((a, b) => rank(a) - rank(b)),
) as unknown as Readonly<Record<CauseCode, CauseRow>>

export function remedyOf(text: unknown): string | undefined {
  return typeof text === 'string' && Object.hasOwn(catalogue, text) ? catalogue[text as Code].remedy : undefined
}

export function isErrorCode(text: unknown): text is ErrorCode {
  return typeof text === 'string' && Object.hasOwn(errorCatalogue, text)
}

export function isCauseCode(text: unknown): text is CauseCode {
  return typeof text === 'string' && Object.hasOwn(causeCatalogue, text)
}
