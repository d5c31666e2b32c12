import type { Links } from '../../answers.ts'
import { serverNow } from '../data/clock.ts'
import { useReading } from '../data/readings.ts'
import type { StreamRow } from '../data/shapes.ts'
import { transfersHref } from '../data/transfer-filter.ts'
import { countText } from '../format/amounts.ts'
import { streamParts } from '../format/ids.ts'
import { workflowUrl } from '../format/links.ts'
import { streamStateOf } from '../format/tone.ts'
import { Counts, State } from '../parts/mark.tsx'
import { Section } from '../parts/section.tsx'
import { Table } from '../parts/table.tsx'
import { Out, Reason, Since } from '../parts/values.tsx'

export function Streams({ links }: { readonly links: Links | undefined }) {
  return (
    <Section id="streams" title="Streams" reading={useReading<{ readonly streams: readonly StreamRow[] }>('v1/streams', 5_000)}>
      {({ streams }) => (
        <Table
          caption="Streams: numbered sources of transfers, and the proof that none was missed"
          empty="No stream runs yet: each begins with its first number, or when a process with the role intake or chain has started."
          rows={streams}
          keyOf={({ stream }) => stream}
          columns={[
            { label: 'Stream', cell: (row) => streamName(row, links) },
            { label: 'State', cell: streamState },
            { label: 'Cursor', cell: ({ cursor }) => countText(cursor), isFigure: true },
            { label: 'Head', cell: headOf, isFigure: true },
            { label: 'Watermark', cell: watermarkOf, isFigure: true },
            { label: 'Open', cell: openNumbers, isFigure: true },
            { label: 'Gaps', cell: gapsOf },
          ]}
        />
      )}
    </Section>
  )
}

function streamName({ stream, workflowId = '' }: StreamRow, links: Links | undefined) {
  const { bridge, source, rest } = streamParts(stream)
  const isNative = bridge.startsWith('native')
  const workflow = workflowUrl(links, workflowId)
  return (
    <span class="stack" title={stream}>
      <b>{isNative ? `${source} → ${rest}` : source}</b>
      <span class="quiet-text">{isNative ? bridge : `${bridge}, ${rest}`}</span>
      {workflow && <Out to={workflow}>workflow</Out>}
    </span>
  )
}

function streamState(row: StreamRow) {
  const { problem, paused, alarms = [], backfill, headAt, silentSince } = row
  if (problem !== undefined) {
    return (
      <span class="stack">
        <State state="no answer" />
        <Reason>{problem}</Reason>
      </span>
    )
  }
  const left = backfill?.left ?? 0
  const { state, tone, isOld } = streamStateOf(row, serverNow())
  return (
    <span class="stack">
      <State state={state} tone={tone} />
      <Since word="last report of an intake" at={silentSince} class="reason bad-text" />
      <Since word="last block" at={isOld ? headAt : undefined} class="reason" />
      <Reason>{paused && `${paused.reason} (${paused.by})`}</Reason>
      <Reason>{left > 0 && `${countText(left)} blocks left`}</Reason>
      {alarms.map((alarm) => (
        <span class="reason bad-text" key={alarm}>
          alarm: {alarm}
        </span>
      ))}
    </span>
  )
}

function headOf({ cursor, lag }: StreamRow) {
  return countText(cursor === undefined || lag === undefined ? undefined : cursor + lag)
}

function watermarkOf({ completedNumber = 'none', next, blockedBy }: StreamRow) {
  return (
    <span class="stack end">
      <span>
        {countText(completedNumber)}
        {next !== undefined && <span class="quiet-text"> of {countText(lastOf(next))}</span>}
      </span>
      <Reason>{blockedBy && `waits for ${countText(blockedBy.number)}: ${blockedBy.code ?? blockedBy.why}`}</Reason>
    </span>
  )
}

function lastOf(next: string): string {
  return /^\d+$/.test(next) && next !== '0' ? String(BigInt(next) - 1n) : 'none'
}

function openNumbers({ stream, open, parked = 0 }: StreamRow) {
  const [bridge, sourceChain, target = ''] = stream.split(':')
  const of = { bridge, sourceChain, ...(!/^[0-9a-f]{64}$/.test(target) && { targetChain: target }) }
  return (
    <span class="stack end">
      <a href={transfersHref({ state: 'open', ...of })}>{countText(open)}</a>
      {parked > 0 && (
        <a class="reason" href={transfersHref({ state: 'parked', ...of })}>
          {countText(parked)} parked
        </a>
      )}
    </span>
  )
}

function gapsOf({ gaps = {}, oldestGapAt, problem }: StreamRow) {
  if (problem !== undefined) return '–'
  return (
    <span class="stack">
      <Counts of={gaps} tone="wait" />
      <Since word="oldest" at={oldestGapAt} class="reason" />
    </span>
  )
}
