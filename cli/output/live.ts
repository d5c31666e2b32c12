import { createLogUpdate } from 'log-update'
import type { CliContext } from '../context.ts'

/** A text that is shown in place of what was shown before. */
export interface LiveText {
  show(text: string): void
  /** Leaves what is shown last. */
  end(): void
}

/** Lines of a terminal that does not say how many it has. */
const usualRows = 24

/** On a terminal; undefined elsewhere, where nothing can be taken back. */
export function createLiveText(stream: CliContext['stdout']): LiveText | undefined {
  if (!stream.isTTY) return undefined
  const update = createLogUpdate(stream as NodeJS.WriteStream, { showCursor: true })
  return {
    show: (text) => update(fitted(text, (stream.rows ?? usualRows) - 1)),
    end: () => update.done(),
  }
}

/** What does not fit into the terminal is counted: a line that has scrolled away could not be taken back. */
function fitted(text: string, most: number): string {
  const lines = text.split('\n')
  if (lines.length <= most) return text
  return [...lines.slice(0, most - 1), `and ${lines.length - most + 1} more lines`].join('\n')
}
