import { type CauseCode, causeCatalogue, isCauseCode } from './catalogue.ts'
import type { Severity } from './row.ts'
import { shellWord } from '../text/printable.ts'

export const causePlaces = ['chain', 'node', 'lane', 'stream', 'settings', 'worker', 'spy', 'receiver', 'temporal', 'transfers'] as const

/** Times are ISO 8601. */
export interface Cause {
  readonly code: string
  readonly severity: Severity
  readonly what: string
  readonly where: { readonly kind: (typeof causePlaces)[number]; readonly id: string }
  readonly since?: string
  readonly asOf: string
  readonly count: number
  readonly oldest?: string
  readonly examples: readonly string[]
  readonly remedy: string
  readonly next: readonly string[]
}

type Subject = 'scope' | 'chain' | 'node' | 'lane' | 'address' | 'other lane' | 'stream' | 'workflow' | 'receiver'
export type CauseValues = Partial<Record<Subject | 'number' | 'id' | 'kind' | 'party' | 'nonce' | 'version', string>>

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

/** Whether any cause holds up work. A cause whose code this version does not know counts too. */
export function isStuck(causes: readonly Pick<Cause, 'code'>[]): boolean {
  return causes.some(({ code }) => !isCauseCode(code) || causeCatalogue[code].severity !== 'note')
}
