import type { ComponentChildren } from 'preact'
import { agoText } from '../../../domain/text/age.ts'
import type { ShownProblem } from '../data/api.ts'
import { useNow } from '../data/clock.ts'
import type { Reading } from '../data/readings.ts'
import { clockText, timeOf } from '../format/time.ts'
import { Mark } from './mark.tsx'

const oldMs = 30_000

interface SectionProps<T> {
  readonly id: string
  readonly title: string
  readonly reading: Reading<T>
  readonly tools?: ComponentChildren
  readonly children: (data: T) => ComponentChildren
}

export function Section<T extends object>({ id, title, reading, tools, children }: SectionProps<T>) {
  const { data, at, problem } = reading
  const asOf = data && 'asOf' in data ? timeOf(data.asOf) : undefined
  return (
    <section id={id} aria-labelledby={`${id}-title`} tabIndex={-1}>
      <header class="section-head">
        <h2 id={`${id}-title`}>{title}</h2>
        {tools}
        <ReadAt at={asOf ?? at} />
      </header>
      {problem && <ProblemNote problem={problem} isKept={data !== undefined} />}
      {data === undefined ? !problem && <p class="empty">Reading…</p> : children(data)}
    </section>
  )
}

function ReadAt({ at }: { readonly at: number | undefined }) {
  const now = useNow()
  if (at === undefined) return <span class="age">not read yet</span>
  const isOld = now - at > oldMs
  return (
    <time class={isOld ? 'age old' : 'age'} dateTime={new Date(at).toISOString()} title={clockText(at)}>
      {isOld && 'old: '}read {agoText(now - at)}
    </time>
  )
}

export function ProblemNote({ problem, isKept }: { readonly problem: ShownProblem; readonly isKept?: boolean }) {
  return (
    <div class="note bad" role="status">
      <Mark tone="bad" />
      <div>
        <strong>{problem.title}</strong> {problem.detail !== problem.title && problem.detail} <code class="code">{problem.code}</code>
        <p>{problem.remedy}</p>
        {isKept && <p>The data below is older.</p>}
      </div>
    </div>
  )
}
