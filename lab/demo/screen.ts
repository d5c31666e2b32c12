import type { Seen } from './follow.ts'

const columns = ['admitting', 'waiting', 'broadcasting', 'pending', 'included', 'delivered', 'parked'] as const
const barWidth = 30
const rowsShown = 8

/** The live view on stderr: redrawn in place on a terminal, a line at every change elsewhere. */
export class Screen {
  #drawn = 0
  #lastLine = ''

  draw(view: { seen: readonly Seen[]; total: number; sent: number; elapsedMs: number }): void {
    const { seen, total, sent, elapsedMs } = view
    const done = seen.filter(({ state }) => state === 'delivered').length
    const filled = Math.round((done / total) * barWidth)
    const bar = `[${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}] ${done}/${total} delivered, ${sent} sent, ${(elapsedMs / 1000).toFixed(1)} s`
    if (!process.stderr.isTTY) {
      const line = `${bar.slice(barWidth + 3)}: ${counts(seen)}`
      const text = line.replace(/, [0-9.]+ s/, '')
      if (text !== this.#lastLine) process.stderr.write(`${line}\n`)
      this.#lastLine = text
      return
    }
    this.#redraw([bar, '', ...table(seen), '', ...newest(seen)])
  }

  #redraw(lines: readonly string[]): void {
    const up = this.#drawn > 0 ? `\u001b[${this.#drawn}A\u001b[J` : ''
    process.stderr.write(`${up}${lines.join('\n')}\n`)
    this.#drawn = lines.length
  }
}

function counts(seen: readonly Seen[]): string {
  return columns
    .map((state) => ({ state, count: seen.filter((one) => one.state === state).length }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }) => `${count} ${state}`)
    .join(', ')
}

function table(seen: readonly Seen[]): string[] {
  const routes = [...new Set(seen.map(({ route }) => route))].sort()
  const cell = (text: string | number) => String(text).padStart(13)
  const row = (route: string) =>
    route.padEnd(20) + columns.map((state) => cell(seen.filter((one) => one.route === route && one.state === state).length)).join('')
  return [`${'route'.padEnd(20)}${columns.map(cell).join('')}`, ...routes.map(row)]
}

function newest(seen: readonly Seen[]): string[] {
  return seen.slice(0, rowsShown).map(({ id, state, lane }) => {
    const [, , , sequence] = id.split(':')
    return `#${(sequence ?? '').padEnd(6)}${state.padEnd(14)}${lane}`
  })
}
