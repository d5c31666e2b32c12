import type { Cause } from '../../../domain/catalogue/cause.ts'
import { useReading } from '../data/readings.ts'
import type { Causes } from '../data/shapes.ts'
import { countText } from '../format/amounts.ts'
import { Command } from '../parts/command.tsx'
import { Mark } from '../parts/mark.tsx'
import { Section } from '../parts/section.tsx'
import { Ago, TransferLink } from '../parts/values.tsx'

/** Causes, the most harmful first. */
export function Stuck() {
  return (
    <Section id="stuck" title="Stuck" reading={useReading<Causes>('v1/stuck', 5_000)}>
      {({ causes }) =>
        causes.length === 0 ? (
          <p class="all-well">
            <Mark tone="good" /> Nothing is stuck.
          </p>
        ) : (
          <ol class="causes">
            {causes.map((cause) => (
              <CauseRow {...cause} key={`${cause.code} ${cause.where.kind} ${cause.where.id}`} />
            ))}
          </ol>
        )
      }
    </Section>
  )
}

const held: Partial<Record<Cause['where']['kind'], string>> = { stream: 'number', receiver: 'notification' }

function CauseRow({ code, severity, what, where, since, count, oldest, examples, remedy, next }: Cause) {
  return (
    <li class="cause">
      <Mark tone={severity === 'everything' || count > 0 ? 'bad' : severity === 'note' ? 'off' : 'wait'} />
      <div class="cause-body">
        <p class="what">{what}</p>
        <p class="facts">
          <code class="code">{code}</code>
          <span>
            {where.kind} <b class="mono wrap">{where.id}</b>
          </span>
          <Since word="since" at={since} />
          <span>
            holds up <b class="figure">{countText(count)}</b> {held[where.kind] ?? 'transfer'}
            {count === 1 ? '' : 's'}
          </span>
          <Since word="oldest" at={oldest} />
        </p>
        {examples.length > 0 && (
          <p class="facts">
            <span>for example</span>
            {examples.map((id) => (
              <TransferLink id={id} key={id} />
            ))}
          </p>
        )}
        <p class="remedy">{remedy}</p>
        {next.length > 0 && (
          <ul class="next" aria-label="What to do">
            {next.map((command) => (
              <li key={command}>
                <Command text={command} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </li>
  )
}

function Since({ word, at }: { readonly word: string; readonly at: string | undefined }) {
  if (at === undefined) return null
  return (
    <span>
      {word} <Ago at={at} />
    </span>
  )
}
