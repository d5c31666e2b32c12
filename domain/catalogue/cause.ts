import { type CauseCode, causeCatalogue, isCauseCode } from './catalogue.ts'
import type { Severity } from './row.ts'
import { shellWord } from '../text/printable.ts'

/** `transfers`: a group of transfers that wait or are parked for the same reason. */
export const causePlaces = ['chain', 'node', 'lane', 'stream', 'settings', 'worker', 'spy', 'receiver', 'temporal', 'transfers'] as const

/** A row of `portage stuck`. Times are ISO 8601. */
export interface Cause {
  readonly code: string
  readonly severity: Severity
  readonly what: string
  readonly where: { readonly kind: (typeof causePlaces)[number]; readonly id: string }
  readonly since?: string
  readonly asOf: string
  /** Transfers, numbers of streams or notifications that the cause holds up now. */
  readonly count: number
  readonly oldest?: string
  /** At most three of them, in the form that commands accept. */
  readonly examples: readonly string[]
  readonly remedy: string
  /** Commands to type, in this order. The reader fills in `<…>`. */
  readonly next: readonly string[]
}

type Subject = 'scope' | 'chain' | 'node' | 'lane' | 'address' | 'other lane' | 'stream' | 'workflow' | 'receiver'
export type CauseValues = Partial<Record<Subject | 'number' | 'id' | 'kind' | 'party' | 'nonce' | 'version', string>>

/** Fills in the commands of a cause. `<…>` stays where a value is missing or unsafe in a shell. */
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

/** A note blocks nothing. An unknown code, from a newer version, counts as blocking. */
export function isStuck(causes: readonly Pick<Cause, 'code'>[]): boolean {
  return causes.some(({ code }) => !isCauseCode(code) || causeCatalogue[code].severity !== 'note')
}
