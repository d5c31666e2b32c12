export interface Line {
  readonly name: string
  readonly color: string
  readonly values: readonly number[]
}

const [width, height, left, bottom, top, right] = [720, 320, 48, 40, 36, 16]
/** This grey is visible on light and dark pages. */
const grey = '#7a7a7a'

/** An SVG chart of values that were measured every `everyS` seconds. Each point is the mean of `smooth` values. */
export function lineChart(title: string, lines: readonly Line[], { smooth: span = 5, everyS = 1 } = {}): string {
  const smooth = lines.map((line) => ({ ...line, values: averaged(line.values, span) }))
  const steps = Math.max(1, ...smooth.map(({ values }) => values.length - 1))
  const most = niceCeil(Math.max(1, ...smooth.flatMap(({ values }) => values)))
  const x = (step: number) => round1(left + (step / steps) * (width - left - right))
  const y = (value: number) => round1(height - bottom - (value / most) * (height - bottom - top))
  const text = (at: { x: number; y: number; anchor: string }, words: string, fill = grey) =>
    `<text x="${at.x}" y="${at.y}" text-anchor="${at.anchor}" fill="${fill}">${escaped(words)}</text>`
  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const at = y(part * most)
    const rule = `<line x1="${left}" y1="${at}" x2="${width - right}" y2="${at}" stroke="${grey}" stroke-opacity="0.3"/>`
    return rule + text({ x: left - 6, y: at + 4, anchor: 'end' }, String(round1(part * most)))
  })
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) =>
    text({ x: x(part * steps), y: height - bottom + 18, anchor: 'middle' }, `${Math.round(part * steps * everyS)} s`),
  )
  const paths = smooth.map(
    ({ color, values }) =>
      `<polyline fill="none" stroke="${color}" stroke-width="2" points="${values.map((value, step) => `${x(step)},${y(value)}`).join(' ')}"/>`,
  )
  const legend = lines.map(({ name, color }, index) => text({ x: left + 8 + index * 180, y: top - 8, anchor: 'start' }, `— ${name}`, color))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>${escaped(title)}</title>`,
    ...[...grid, ...ticks, ...paths, ...legend],
    '</svg>',
    '',
  ].join('\n')
}

export function averaged(values: readonly number[], span: number): number[] {
  const half = Math.floor(span / 2)
  return values.map((_, index) => {
    const near = values.slice(Math.max(0, index - half), index + half + 1)
    return near.reduce((sum, value) => sum + value, 0) / near.length
  })
}

function niceCeil(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= value) ?? value
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

function round1(value: number): number {
  return Math.round(value * 10) / 10
}
