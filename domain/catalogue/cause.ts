import { type CauseCode, causeCatalogue, isCauseCode } from './catalogue.ts'
import type { Severity } from './row.ts'
import { shellWord } from '../text/printable.ts'

/** Subjects of causes. `transfers`: a group of transfers that wait or are parked for the same reason. */
export const causePlaces = ['chain', 'node', 'lane', 'stream', 'settings', 'worker', 'spy', 'receiver', 'temporal', 'transfers'] as const

/** One fault or order that holds up any number of transfers: one row of `portage stuck`. Times are ISO 8601. */
export interface Cause {
  readonly code: string
  /** Kind of harm: a name of `severities` (row.ts). */
  readonly severity: Severity
  readonly what: string
  readonly where: { readonly kind: (typeof causePlaces)[number]; readonly id: string }
  readonly since?: string
  readonly asOf: string
  /** Number of transfers, stream numbers or notifications that the cause holds up. 0: none now. */
  readonly count: number
  readonly oldest?: string
  /** Ids of at most three things that the cause holds up, in the form that commands take. */
  readonly examples: readonly string[]
  /** One or two sentences of the catalogue: what a person does about it. */
  readonly remedy: string
  /** Commands to type, from first to last. The reader fills in `<…>`. */
  readonly next: readonly string[]
}

/** The names in `<…>` of the catalogue's commands. */
type Subject = 'scope' | 'chain' | 'node' | 'lane' | 'address' | 'other lane' | 'stream' | 'workflow' | 'receiver'
export type CauseValues = Partial<Record<Subject | 'number' | 'id' | 'kind' | 'party' | 'nonce' | 'version', string>>

/** The commands of a cause with these values. `<…>` stays where the value is missing or unsafe in a shell. */
export function commandsOf(code: CauseCode, values: CauseValues): readonly string[] {
  return causeCatalogue[code].next.map((command) =>
    command.replaceAll(/<([a-z ]+)>/g, (whole, name: string) => typed(name, values[name as keyof CauseValues]) ?? whole),
  )
}

function typed(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  if (name !== 'scope') return shellWord(value)
  const words = value.split(' ').map((word) => shellWord(word.replace(/^--/, '')))
  return words.includes(undefined) ? undefined : value
}

/** Whether any of these causes blocks something. A note blocks nothing. */
export function isStuck(causes: readonly Pick<Cause, 'code'>[]): boolean {
  return causes.some(({ code }) => !isCauseCode(code) || causeCatalogue[code].severity !== 'note')
}
