import { useReading } from '../data/readings.ts'
import type { StreamRow, Streams as StreamsRead } from '../data/shapes.ts'
import { countText } from '../format/amounts.ts'
import { streamParts } from '../format/ids.ts'
import { type Links, workflowUrl } from '../format/links.ts'
import { timeOf } from '../format/time.ts'
import { Ago } from '../parts/age.tsx'
import { Out } from '../parts/link.tsx'
import { Mark, State } from '../parts/mark.tsx'
import { Empty, Section } from '../parts/section.tsx'
import { Table } from '../parts/table.tsx'

/** The numbered sources: the progress and the watermark of each. */
export function Streams({ links }: { readonly links: Links | undefined }) {
  const reading = useReading<StreamsRead>('v1/streams', 5_000)
  return (
    <Section id="streams" title="Streams" reading={reading} asOf={timeOf(reading.data?.asOf)}>
      {({ streams }) =>
        streams.length === 0 ? (
          <Empty>No stream runs yet: each begins with its first number, or when a process with the role intake or chain has started.</Empty>
        ) : (
          <Table
            caption="Streams: numbered sources of transfers, and the proof that none was missed"
            rows={streams}
            keyOf={({ stream }) => stream}
            columns={[
              { label: 'Stream', cell: (row) => <Stream row={row} links={links} /> },
              { label: 'State', cell: (row) => <StreamState row={row} /> },
              { label: 'Cursor', cell: ({ cursor }) => heightText(cursor), isFigure: true },
              {
                label: 'Head',
                cell: ({ cursor, lag }) => heightText(cursor !== undefined && lag !== undefined ? cursor + lag : undefined),
                isFigure: true,
              },
              { label: 'Watermark', cell: (row) => <Watermark row={row} />, isFigure: true },
              { label: 'Open', cell: ({ open, parked }) => <OpenNumbers open={open} parked={parked} />, isFigure: true },
              { label: 'Gaps', cell: (row) => <Gaps row={row} /> },
            ]}
          />
        )
      }
    </Section>
  )
}

interface Row {
  readonly row: StreamRow
}

const heightText = (height: number | undefined) => (height === undefined ? '–' : countText(height))

function Stream({ row: { stream, workflowId = '' }, links }: Row & { readonly links: Links | undefined }) {
  const { bridge, source, rest } = streamParts(stream)
  return (
    <span class="stack" title={stream}>
      <b>
        {source} {bridge.startsWith('native') ? '→ ' : ''}
        {bridge.startsWith('native') ? rest : ''}
      </b>
      <span class="quiet-text">
        {bridge}
        {bridge.startsWith('native') ? '' : `, ${rest}`}
      </span>
      {workflowUrl(links, workflowId) && <Out to={workflowUrl(links, workflowId)}>workflow</Out>}
    </span>
  )
}

function StreamState({ row }: Row) {
  const { problem, paused, alarms = [], full, backfill, lag } = row
  if (problem !== undefined) {
    return (
      <span class="stack">
        <State state="no answer" />
        <span class="reason">{problem}</span>
      </span>
    )
  }
  const state = paused ? 'paused' : full ? 'full' : (backfill?.left ?? 0) > 0 ? 'reading back' : 'following'
  const tone = alarms.length > 0 ? 'bad' : paused || full ? 'wait' : (backfill?.left ?? 0) > 0 || (lag ?? 0) > 50 ? 'busy' : 'good'
  return (
    <span class="stack">
      <span class={`state ${tone}`}>
        <Mark tone={tone} />
        {state}
      </span>
      {paused && (
        <span class="reason">
          {paused.reason} ({paused.by})
        </span>
      )}
      {(backfill?.left ?? 0) > 0 && <span class="reason">{countText(backfill?.left ?? 0)} blocks left</span>}
      {alarms.map((alarm) => (
        <span class="reason bad-text" key={alarm}>
          alarm: {alarm}
        </span>
      ))}
    </span>
  )
}

function Watermark({ row: { completedNumber, next, blockedBy } }: Row) {
  return (
    <span class="stack end">
      <span>
        {completedNumber === undefined ? 'none' : countText(completedNumber)}
        {next !== undefined && <span class="quiet-text"> of {countText(lastOf(next))}</span>}
      </span>
      {blockedBy && (
        <span class="reason">
          waits for {countText(blockedBy.number)}: {blockedBy.code ?? blockedBy.why}
        </span>
      )}
    </span>
  )
}

/** One below `next`. A u64, so not a JS number. */
function lastOf(next: string): string {
  return /^\d+$/.test(next) && next !== '0' ? String(BigInt(next) - 1n) : 'none'
}

function OpenNumbers({ open, parked }: { readonly open: number | undefined; readonly parked: number | undefined }) {
  if (open === undefined) return <>–</>
  return (
    <span class="stack end">
      <span>{countText(open)}</span>
      {(parked ?? 0) > 0 && <span class="reason">{countText(parked ?? 0)} parked</span>}
    </span>
  )
}

function Gaps({ row: { gaps = {}, oldestGapAt, problem } }: Row) {
  if (problem !== undefined) return <>–</>
  const found = Object.entries(gaps)
  if (found.length === 0) return <span class="quiet-text">none</span>
  return (
    <span class="stack">
      {found.map(([state, count]) => (
        <span class="state wait" key={state}>
          <Mark tone="wait" />
          <b class="figure">{countText(count)}</b> {state}
        </span>
      ))}
      {oldestGapAt !== undefined && (
        <span class="reason">
          oldest <Ago at={oldestGapAt} />
        </span>
      )}
    </span>
  )
}
