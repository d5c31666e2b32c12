import { createLogUpdate } from 'log-update'
import type { CliContext } from '../context.ts'

export interface LiveText {
  show(text: string): void
  end(): void
}

const usualRows = 24

/** Undefined unless the stream is a TTY. */
export function createLiveText(stream: CliContext['stdout']): LiveText | undefined {
  if (!stream.isTTY) return undefined
  const update = createLogUpdate(stream as NodeJS.WriteStream, { showCursor: true })
  return {
    show: (text) => update(fitted(text, (stream.rows ?? usualRows) - 1)),
    end: () => update.done(),
  }
}

/** A line that has scrolled away cannot be replaced. */
function fitted(text: string, most: number): string {
  const lines = text.split('\n')
  if (lines.length <= most) return text
  return [...lines.slice(0, most - 1), `and ${lines.length - most + 1} more lines`].join('\n')
}
