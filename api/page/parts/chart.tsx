import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { theme } from '../data/theme.ts'
import { useStore } from '../data/store.ts'

export interface Line {
  readonly label: string
  readonly colour: string
  readonly values: readonly (number | null)[]
  readonly isBars?: boolean
  readonly dash?: readonly number[]
}

interface ChartProps {
  /** ms since the epoch */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly textOf: (value: number) => string
  readonly summary: string
}

const height = 168

export function Chart({ times, lines, textOf, summary }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const [index, setIndex] = useState<number | undefined>(undefined)
  const shown = useStore(theme)
  const shape = lines.map(({ label }) => label).join()

  useEffect(() => {
    const element = place.current
    if (!element) return undefined
    const made = new uPlot(optionsOf(element, lines, textOf, setIndex), dataOf(times, lines), element)
    plot.current = made
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [shown, shape])
  useEffect(() => plot.current?.setData(dataOf(times, lines)), [times, lines])

  const at = index ?? times.length - 1
  const time = times[at]
  return (
    <div class="chart">
      <div class="plot" ref={place} role="img" aria-label={summary} />
      <ul class="key">
        <li class="figure">
          {time === undefined ? '' : new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })}
        </li>
        {lines.map(({ label, colour, dash, isBars, values: { [at]: value } }) => (
          <li key={label}>
            <svg class={`swatch ${colour}`} viewBox="0 0 18 8" width="18" height="8" aria-hidden="true">
              {isBars ? <rect x="3" width="12" height="8" /> : <path d="M0 4h18" stroke-dasharray={dash?.join(' ')} />}
            </svg>
            {label} <b class="figure">{value == null ? '–' : textOf(value)}</b>
          </li>
        ))}
      </ul>
    </div>
  )
}

function dataOf(times: readonly number[], lines: readonly Line[]): uPlot.AlignedData {
  return [times.map((at) => at / 1_000), ...lines.map(({ values }) => [...values])] as uPlot.AlignedData
}

function optionsOf(
  element: HTMLElement,
  lines: readonly Line[],
  textOf: (value: number) => string,
  onIndex: (index: number | undefined) => void,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const font = `11px ${style.getPropertyValue('--sans').trim() || 'sans-serif'}`
  const axis = { stroke: colour('muted'), font, grid: { stroke: colour('line'), width: 1 }, ticks: { show: false } }
  return {
    width: element.clientWidth,
    height,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 64,
        size: 30,
        values: [
          [3_600, '{HH}:{mm}'],
          [60, '{HH}:{mm}'],
          [1, '{HH}:{mm}:{ss}'],
        ].map(([size, text]) => [size, text, null, null, null, null, null, null, 1]) as uPlot.Axis.Values,
      },
      { ...axis, size: 56, space: 32, values: (_, splits) => splits.map((value) => textOf(value)) },
    ],
    series: [
      {},
      ...lines.map(({ colour: name, dash, isBars }) => ({
        stroke: colour(name),
        width: isBars ? 0 : 1.5,
        spanGaps: true,
        points: { show: !isBars, size: 4, fill: colour(name) },
        ...(dash && { dash: [...dash] }),
        ...(isBars && { fill: colour(name), paths: uPlot.paths.bars!({ size: [0.8, 24, 1], align: 1 }) }),
      })),
    ],
    hooks: { setCursor: [({ cursor }) => onIndex(cursor.idx ?? undefined)] },
  }
}
