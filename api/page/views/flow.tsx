import { useMemo, useState } from 'preact/hooks'
import type { Flow as FlowAnswer } from '../../answers.ts'
import { useReading } from '../data/readings.ts'
import { transfersHref } from '../data/transfer-filter.ts'
import { countText } from '../format/amounts.ts'
import { spanText } from '../format/time.ts'
import { Chart, type Line } from '../parts/chart.tsx'
import { Choices } from '../parts/choices.tsx'
import { Counts } from '../parts/mark.tsx'
import { Section } from '../parts/section.tsx'
import { Table } from '../parts/table.tsx'
import { Ago, Detail } from '../parts/values.tsx'

const windows = [
  { value: 5, label: '5 min', words: '5 minutes' },
  { value: 60, label: '1 h', words: 'hour' },
  { value: 360, label: '6 h', words: '6 hours' },
  { value: 1_440, label: '24 h', words: '24 hours' },
] as const

export function Flow() {
  const [minutes, setMinutes] = useState<number>(60)
  const reading = useReading<FlowAnswer>(`v1/flow?minutes=${minutes}`, 5_000)
  const words = windows.find(({ value }) => value === minutes)?.words ?? ''
  const tools = <Choices name="window" legend="Window of time" choices={windows} chosen={minutes} onChoose={setMinutes} />
  return (
    <Section id="flow" title="Flow between chains" reading={reading} tools={tools}>
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
  readonly flow: FlowAnswer
  readonly words: string
}

function Figures({ flow, words }: Shown) {
  const { delivered, medianMs, p95Ms, open, isOpenCut, endedSince } = flow
  const oldest = flow.routes.flatMap(({ oldestOpenAt }) => oldestOpenAt ?? [])
  return (
    <>
      <dl class="figures">
        <Detail name="Open now">
          <a href={transfersHref({ state: 'open' })}>{isOpenCut ? `${countText(open)} or more` : countText(open)}</a>
        </Detail>
        <Detail name="Oldest open">
          <Ago at={oldest.length === 0 ? undefined : Math.min(...oldest)} bare />
        </Detail>
        <Detail name={`Delivered, last ${words}`}>
          <a href={transfersHref({ state: 'delivered' })}>{countText(delivered)}</a>
        </Detail>
        <Detail name="Time, median">{spanText(medianMs)}</Detail>
        <Detail name="Time, 95 of 100">{spanText(p95Ms)}</Detail>
      </dl>
      {endedSince !== undefined && (
        <p class="facts">
          Only what ended in the last <Ago at={endedSince} bare /> is counted: more ended than is listed at once.
        </p>
      )}
    </>
  )
}

function Charts({ flow, words }: Shown) {
  const { steps, stepMs, delivered, medianMs, p95Ms } = flow
  const times = useMemo(() => steps.map(({ at }) => at), [steps])
  const period = stepMs < 60_000 ? `${stepMs / 1_000} s` : spanText(stepMs)
  const counts = useMemo(
    (): Line[] => [{ label: `delivered in ${period}`, colour: 'series-1', values: steps.map((one) => one.delivered), isBars: true }],
    [steps, period],
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
  return (
    <Table
      caption={`Transfers by route: open now, and ended in the last ${words}`}
      empty={`No transfer is open, and none ended in the last ${words}. Portage starts one as soon as a source has it.`}
      rows={flow.routes}
      keyOf={({ bridge, source, target }) => JSON.stringify([bridge, source, target])}
      columns={[
        { label: 'Route', cell: routeName },
        { label: 'Bridge', cell: ({ bridge }) => bridge || 'unknown' },
        { label: 'Open', cell: (route) => routeCounts(route.open, route) },
        { label: 'Oldest open', cell: ({ oldestOpenAt }) => <Ago at={oldestOpenAt} bare />, isFigure: true },
        { label: 'Ended', cell: (route) => routeCounts(route.ended, route) },
        { label: 'Median', cell: ({ medianMs }) => spanText(medianMs), isFigure: true },
        { label: '95 of 100', cell: ({ p95Ms }) => spanText(p95Ms), isFigure: true },
      ]}
    />
  )
}

type Route = FlowAnswer['routes'][number]

function routeName({ source, target }: Route) {
  return (
    <span class="route">
      <b>{source || 'unknown'}</b> <span aria-label="to">→</span> <b>{target || 'unknown'}</b>
    </span>
  )
}

function routeCounts(counts: Readonly<Record<string, number>>, { bridge, source: sourceChain, target: targetChain }: Route) {
  return (
    <span class="counts">
      <Counts of={counts} hrefOf={(state) => transfersHref({ state, bridge, sourceChain, targetChain })} />
    </span>
  )
}
