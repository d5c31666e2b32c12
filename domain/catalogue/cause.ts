import { type CauseCode, causeCatalogue, isCauseCode } from './catalogue.ts'
import { shellWord } from '../text/printable.ts'

/** Subjects of causes. `transfers`: a group of transfers that wait or are parked for the same reason. */
export const causePlaces = ['chain', 'node', 'lane', 'stream', 'settings', 'worker', 'spy', 'receiver', 'temporal', 'transfers'] as const

/** One fault or order that holds up any number of transfers: one row of `portage stuck`. Times are ISO 8601. */
export interface Cause {
  readonly code: string
  readonly what: string
  readonly where: { readonly kind: (typeof causePlaces)[number]; readonly id: string }
  readonly since?: string
  readonly asOf: string
  /** Transfers, numbers of a stream, or notifications of a receiver, that it holds up. 0: none now. */
  readonly count: number
  readonly oldest?: string
  /** Ids of some of them, as commands take them: at most three. */
  readonly examples: readonly string[]
  /** Commands, the one to type first at the beginning. The reader fills in `<…>`. */
  readonly next: readonly string[]
}

/** The names in `<…>` of the catalogue's commands. */
type Subject = 'scope' | 'chain' | 'node' | 'lane' | 'address' | 'other lane' | 'stream' | 'workflow' | 'receiver'
export type CauseValues = Partial<Record<Subject | 'number' | 'id' | 'kind' | 'party' | 'nonce', string>>

/** The commands of a cause with these values. A name without a value that is safe in a shell stays in `<…>`. */
export function commandsOf(code: CauseCode, values: CauseValues): readonly string[] {
  return causeCatalogue[code].next.map((command) =>
    command.replaceAll(/<([a-z ]+)>/g, (whole, name: string) => typed(name, values[name as keyof CauseValues]) ?? whole),
  )
}

/** A scope is several options; any other value is one word. */
function typed(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  if (name !== 'scope') return shellWord(value)
  const words = value.split(' ').map((word) => shellWord(word.replace(/^--/, '')))
  return words.includes(undefined) ? undefined : value
}

/** Whether one of these keeps something from going on. A note does not. */
export function isStuck(causes: readonly Pick<Cause, 'code'>[]): boolean {
  return causes.some(({ code }) => !isCauseCode(code) || causeCatalogue[code].severity !== 'note')
}
