import { useMemo, useState } from 'preact/hooks'
import type { Traffic, RouteTraffic } from '../../../domain/transfer/traffic.ts'
import { useReading } from '../data/readings.ts'
import { countText } from '../format/amounts.ts'
import { spanText, timeOf } from '../format/time.ts'
import { toneOf } from '../format/tone.ts'
import { Ago } from '../parts/age.tsx'
import { Chart, type Line } from '../parts/chart.tsx'
import { Mark } from '../parts/mark.tsx'
import { Empty, Section } from '../parts/section.tsx'
import { Table } from '../parts/table.tsx'

/** The fields of temporal/client/transfers/flow.ts. */
interface TrafficReport extends Traffic {
  readonly asOf: string
  readonly minutes: number
  readonly stepMs: number
  readonly open: number
  readonly isOpenCut: boolean
  readonly endedSince?: string
}

const windows = [
  { minutes: 5, label: '5 min', words: '5 minutes' },
  { minutes: 60, label: '1 h', words: 'hour' },
  { minutes: 360, label: '6 h', words: '6 hours' },
  { minutes: 1_440, label: '24 h', words: '24 hours' },
] as const

/** Traffic between the chains, and its times. */
export function Flow() {
  const [minutes, setMinutes] = useState<number>(60)
  const reading = useReading<TrafficReport>(`v1/flow?minutes=${minutes}`, 5_000)
  const words = windows.find((one) => one.minutes === minutes)?.words ?? ''
  const tools = (
    <fieldset class="choice">
      <legend class="quiet">Window of time</legend>
      {windows.map(({ minutes: one, label }) => (
        <label key={one}>
          <input type="radio" name="window" checked={one === minutes} onChange={() => setMinutes(one)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  )
  return (
    <Section id="flow" title="Flow between chains" reading={reading} asOf={timeOf(reading.data?.asOf)} tools={tools}>
      {(flow) => (
        <>
          <Figures flow={flow} words={words} />
          <Charts flow={flow} words={words} />
          <Routes flow={flow} words={words} />
        </>
      )}
    </Section>
  )
}

interface Shown {
  readonly flow: TrafficReport
  readonly words: string
}

function Figures({ flow, words }: Shown) {
  const { delivered, medianMs, p95Ms, open, isOpenCut, endedSince } = flow
  const oldest = flow.routes.flatMap(({ oldestOpenAt }) => oldestOpenAt ?? [])
  return (
    <>
      <dl class="figures">
        <div>
          <dt>Open now</dt>
          <dd>{isOpenCut ? `${countText(open)} or more` : countText(open)}</dd>
        </div>
        <div>
          <dt>Oldest open</dt>
          <dd>{oldest.length === 0 ? '–' : <Ago at={Math.min(...oldest)} bare />}</dd>
        </div>
        <div>
          <dt>Delivered, last {words}</dt>
          <dd>{countText(delivered)}</dd>
        </div>
        <div>
          <dt>Time, median</dt>
          <dd>{medianMs === undefined ? '–' : spanText(medianMs)}</dd>
        </div>
        <div>
          <dt>Time, 95 of 100</dt>
          <dd>{p95Ms === undefined ? '–' : spanText(p95Ms)}</dd>
        </div>
      </dl>
      {endedSince !== undefined && (
        <p class="facts">
          Only what ended in the last <Ago at={timeOf(endedSince)} bare /> is counted: more ended than is listed at once.
        </p>
      )}
    </>
  )
}

function Charts({ flow, words }: Shown) {
  const { steps, stepMs, delivered, medianMs, p95Ms } = flow
  const times = useMemo(() => steps.map(({ at }) => at), [steps])
  const counts = useMemo(
    (): Line[] => [
      {
        label: `delivered in ${stepMs < 60_000 ? `${stepMs / 1_000} s` : spanText(stepMs)}`,
        colour: 'series-1',
        values: steps.map((one) => one.delivered),
        isBars: true,
      },
    ],
    [steps, stepMs],
  )
  const spans = useMemo(
    (): Line[] => [
      { label: 'median', colour: 'series-1', values: steps.map((one) => one.medianMs ?? null) },
      { label: '95 of 100', colour: 'series-2', values: steps.map((one) => one.p95Ms ?? null), dash: [5, 4] },
    ],
    [steps],
  )
  const median = medianMs === undefined ? 'none' : spanText(medianMs)
  const p95 = p95Ms === undefined ? 'none' : spanText(p95Ms)
  return (
    <div class="charts">
      <figure>
        <figcaption>Deliveries</figcaption>
        <Chart times={times} lines={counts} textOf={wholeText} summary={`Deliveries over the last ${words}: ${delivered} in all.`} />
      </figure>
      <figure>
        <figcaption>Time from start to delivery</figcaption>
        <Chart
          times={times}
          lines={spans}
          textOf={axisSpan}
          summary={`Time to delivery over the last ${words}: median ${median}, 95 of 100 within ${p95}.`}
        />
      </figure>
    </div>
  )
}

const wholeText = (value: number) => (Number.isInteger(value) ? countText(value) : '')
const axisSpan = (ms: number) => (ms === 0 ? '0' : spanText(ms))

function Routes({ flow, words }: Shown) {
  if (flow.routes.length === 0)
    return <Empty>No transfer is open, and none ended in the last {words}. Portage starts one as soon as a source has it.</Empty>
  return (
    <Table
      caption={`Transfers by route: open now, and ended in the last ${words}`}
      rows={flow.routes}
      keyOf={({ bridge, source, target }) => JSON.stringify([bridge, source, target])}
      columns={[
        { label: 'Route', cell: ({ source, target }) => <RouteName source={source} target={target} /> },
        { label: 'Bridge', cell: ({ bridge }) => bridge || 'unknown' },
        { label: 'Open', cell: ({ open }) => <Counts counts={open} none="none" /> },
        {
          label: 'Oldest open',
          cell: ({ oldestOpenAt }) => (oldestOpenAt === undefined ? '–' : <Ago at={oldestOpenAt} bare />),
          isFigure: true,
        },
        { label: 'Ended', cell: ({ ended }) => <Counts counts={ended} none="none" /> },
        { label: 'Median', cell: ({ medianMs }: RouteTraffic) => (medianMs === undefined ? '–' : spanText(medianMs)), isFigure: true },
        { label: '95 of 100', cell: ({ p95Ms }) => (p95Ms === undefined ? '–' : spanText(p95Ms)), isFigure: true },
      ]}
    />
  )
}

function RouteName({ source, target }: { readonly source: string; readonly target: string }) {
  return (
    <span class="route">
      <b>{source || 'unknown'}</b> <span aria-label="to">→</span> <b>{target || 'unknown'}</b>
    </span>
  )
}

function Counts({ counts, none }: { readonly counts: Readonly<Record<string, number>>; readonly none: string }) {
  const found = Object.entries(counts)
  if (found.length === 0) return <span class="quiet-text">{none}</span>
  return (
    <span class="counts">
      {found.map(([state, count]) => (
        <span class={`state ${toneOf(state)}`} key={state}>
          <Mark tone={toneOf(state)} />
          <b class="figure">{countText(count)}</b> {state}
        </span>
      ))}
    </span>
  )
}
