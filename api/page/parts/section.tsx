import type { ComponentChildren } from 'preact'
import type { Problem } from '../data/api.ts'
import type { Reading } from '../data/readings.ts'
import { Mark } from './mark.tsx'
import { ReadAt } from './age.tsx'

interface SectionProps<T> {
  readonly id: string
  readonly title: string
  readonly reading: Reading<T>
  /** When the figures were read at their source, where that is told; absent: when they were read here. */
  readonly asOf?: number | undefined
  readonly tools?: ComponentChildren
  readonly children: (data: T) => ComponentChildren
}

/** A part of the page with what was read for it: its age, and what to do where it could not be read. */
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

/** A refusal, with its code and what the reader can do. */
export function ProblemNote({ problem, isKept }: { readonly problem: Problem; readonly isKept?: boolean }) {
  return (
    <div class="note bad" role="status">
      <Mark tone="bad" />
      <div>
        <strong>{problem.title}</strong> {problem.detail !== problem.title && problem.detail} <code class="code">{problem.code}</code>
        <p>{problem.remedy}</p>
        {isKept && <p>What is shown below is from before.</p>}
      </div>
    </div>
  )
}

/** Where there is nothing to show: why, and what would change it. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}
