import type { Cause } from '../../../domain/catalogue/cause.ts'
import { useReading } from '../data/readings.ts'
import type { Causes } from '../data/shapes.ts'
import { type ShownFilter, transfersHref } from '../data/transfer-filter.ts'
import { countText } from '../format/amounts.ts'
import { Command } from '../parts/command.tsx'
import { Mark } from '../parts/mark.tsx'
import { Section } from '../parts/section.tsx'
import { Since, TransferLink } from '../parts/values.tsx'

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
            holds up <Held code={code} where={where} count={count} />
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

function Held({ code, where: { kind, id }, count }: Pick<Cause, 'code' | 'where' | 'count'>) {
  const text = (
    <>
      <b class="figure">{countText(count)}</b> {held[kind] ?? 'transfer'}
      {count === 1 ? '' : 's'}
    </>
  )
  const filter = count > 0 ? filterOf(code, kind, id) : undefined
  return filter ? <a href={transfersHref(filter)}>{text}</a> : text
}

/** Undefined if no filter can select the transfers that the cause counts. */
function filterOf(code: string, kind: Cause['where']['kind'], id: string): ShownFilter | undefined {
  if (kind === 'chain') return { state: 'open', chain: id }
  if (kind === 'lane') return { state: 'open', code }
  if (kind !== 'transfers') return undefined
  if (id === 'parked') return { state: 'parked', ...(code !== 'TRANSFERS_PARKED' && { code }) }
  const [bridge, sourceChain, targetChain] = id.split(':')
  return targetChain === undefined ? { state: 'open' } : { state: 'open', bridge, sourceChain, targetChain }
}
