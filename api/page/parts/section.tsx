import type { ComponentChildren } from 'preact'
import type { Problem } from '../data/api.ts'
import type { Reading } from '../data/readings.ts'
import { Mark } from './mark.tsx'
import { ReadAt } from './age.tsx'

interface SectionProps<T> {
  readonly id: string
  readonly title: string
  readonly reading: Reading<T>
  /** Absent: read by this page. */
  readonly asOf?: number | undefined
  readonly tools?: ComponentChildren
  readonly children: (data: T) => ComponentChildren
}

/** Shows the age of a reading, or the remedy if it failed. */
export function Section<T>({ id, title, reading, asOf, tools, children }: SectionProps<T>) {
  const { data, at, problem } = reading
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

export function ProblemNote({ problem, isKept }: { readonly problem: Problem; readonly isKept?: boolean }) {
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

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}
