import { useNow } from '../data/clock.ts'
import { ageText, agoText } from '../../../domain/text/age.ts'
import { clockText } from '../format/time.ts'

/** ms. */
const oldMs = 30_000

/** The age of figures, in words if they are old. */
export function ReadAt({ at }: { readonly at: number | undefined }) {
  const now = useNow()
  if (at === undefined) return <span class="age">not read yet</span>
  const isOld = now - at > oldMs
  return (
    <time class={isOld ? 'age old' : 'age'} dateTime={new Date(at).toISOString()} title={clockText(at)}>
      {isOld ? `old: read ${agoText(now - at)}` : `read ${agoText(now - at)}`}
    </time>
  )
}

export function Ago({ at, bare }: { readonly at: number | undefined; readonly bare?: boolean }) {
  const now = useNow()
  if (at === undefined) return null
  return (
    <time dateTime={new Date(at).toISOString()} title={clockText(at)}>
      {bare ? ageText(now - at) : agoText(now - at)}
    </time>
  )
}
