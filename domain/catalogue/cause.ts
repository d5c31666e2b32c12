import { causeCatalogue } from './cause-catalogue.ts'
import type { CauseRow } from './cause-row.ts'
import { shellWord } from '../text/shell-word.ts'

/** What a cause is about. `transfers`: a group of transfers that wait or are parked for the same reason. */
export const causePlaces = ['chain', 'node', 'lane', 'stream', 'settings', 'worker', 'spy', 'receiver', 'temporal', 'transfers'] as const

/** One fault or order that keeps something from going on: one row of `portage stuck`, however many transfers it holds up. Times are ISO 8601. */
export interface Cause {
  /** Of `causeCatalogue`, or of docs/reference/errors.md. */
  readonly code: string
  /** One sentence: what is wrong here. */
  readonly what: string
  readonly where: { readonly kind: (typeof causePlaces)[number]; readonly id: string }
  /** When it began, as far as that is known. */
  readonly since?: string
  /** When it was read. */
  readonly asOf: string
  /** Transfers, numbers of a stream, or notifications of a receiver, that it holds up. 0: none now. */
  readonly count: number
  /** When the oldest of those began. */
  readonly oldest?: string
  /** Ids of some of them, as commands take them: at most three. */
  readonly examples: readonly string[]
  /** Commands, the one to type first at the beginning. What stands in `<…>` is for the reader to fill in. */
  readonly next: readonly string[]
}

export type CauseCode = keyof typeof causeCatalogue

/** The names that commands of the catalogue have in `<…>`. */
export type CauseValues = Partial<
  Record<
    | 'scope'
    | 'chain'
    | 'node'
    | 'lane'
    | 'address'
    | 'other lane'
    | 'stream'
    | 'number'
    | 'id'
    | 'workflow'
    | 'kind'
    | 'party'
    | 'nonce'
    | 'receiver',
    string
  >
>

/** Whether a code is a kind of cause, not only an error. */
export function isCauseCode(code: string): code is CauseCode {
  return Object.hasOwn(causeCatalogue, code)
}

/** The commands of a row with these values. What has no value, or one that a shell would take for more than a word, stays in `<…>`, for the reader. */
export function commandsOf(code: CauseCode, values: CauseValues): readonly string[] {
  const { next }: CauseRow = causeCatalogue[code]
  return next.map((command) =>
    command.replaceAll(/<([a-z ]+)>/g, (whole, name: string) => typed(name, values[name as keyof CauseValues]) ?? whole),
  )
}

/** A scope is several options; all else is one word. */
function typed(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  if (name !== 'scope') return shellWord(value)
  const words = value.split(' ').map((word) => shellWord(word.replace(/^--/, '')))
  return words.includes(undefined) ? undefined : value
}

/** Whether something stands because of one of these. */
export function isStuck(causes: readonly Pick<Cause, 'code'>[]): boolean {
  return causes.some(({ code }) => !(isCauseCode(code) && (causeCatalogue[code] as CauseRow).isNote))
}
