import { createLiveText } from '../../cli/output/print.ts'
import type { Seen } from './follow.ts'

const states = ['admitting', 'waiting', 'broadcasting', 'pending', 'included', 'delivered', 'parked'] as const
const barWidth = 30
const rowsShown = 8
const gap = 2

interface View {
  readonly seen: readonly Seen[]
  readonly total: number
  readonly sent: number
  readonly elapsedMs: number
}

/** The live view on stderr. Redraws itself on a terminal. On other outputs, prints a line per change. */
export class Screen {
  readonly #live = createLiveText(process.stderr)
  #lastNews = ''

  draw(view: View): void {
    if (this.#live) {
      this.#live.show(screenLines(view).join('\n'))
      return
    }
    const states = counts(view.seen)
    const news = `${sentAndDelivered(view)} ${states}`
    if (news === this.#lastNews) return
    process.stderr.write(`${progress(view)}${states && `: ${states}`}\n`)
    this.#lastNews = news
  }

  end(): void {
    this.#live?.end()
  }
}

/** Lines of the view, each of at most 80 columns. */
export function screenLines(view: View): string[] {
  const { seen, total } = view
  const filled = Math.round((deliveredOf(seen) / total) * barWidth)
  const bar = `[${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}]`
  return [`${bar} ${progress(view)}`, '', ...table(seen), '', ...newest(seen)]
}

function progress(view: View): string {
  return `${sentAndDelivered(view)}, ${(view.elapsedMs / 1000).toFixed(1)} s`
}

function sentAndDelivered({ seen, total, sent }: View): string {
  return `${deliveredOf(seen)}/${total} delivered, ${sent} sent`
}

function deliveredOf(seen: readonly Seen[]): number {
  return seen.filter(({ state }) => state === 'delivered').length
}

function counts(seen: readonly Seen[]): string {
  return states
    .map((state) => ({ state, count: seen.filter((one) => one.state === state).length }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }) => `${count} ${state}`)
    .join(', ')
}

function table(seen: readonly Seen[]): string[] {
  const routes = [...new Set(seen.map(({ route }) => route))].sort()
  const count = (state: string, route: string) => seen.filter((one) => one.route === route && one.state === state).length
  const row = (name: string, cells: readonly (string | number)[]) =>
    name.padEnd(12) + cells.map((cell, at) => ' '.repeat(gap) + String(cell).padStart(routes[at]?.length ?? 0)).join('')
  return [
    row('', routes),
    ...states.map((state) =>
      row(
        state,
        routes.map((route) => count(state, route)),
      ),
    ),
  ]
}

function newest(seen: readonly Seen[]): string[] {
  return seen.slice(0, rowsShown).map(({ id, state, lane }) => {
    const [, , , sequence] = id.split(':')
    return `#${(sequence ?? '').padEnd(6)}${state.padEnd(14)}${lane}`
  })
}
