import { viewStream } from '../../../domain/stream/reducer.ts'
import type { StreamState } from '../../../domain/stream/stream.ts'
import { harmless } from '../../../domain/text/printable.ts'
import { readStream, type StreamReport, toReport } from '../../../intake/streams/reports.ts'
import { lastBackfilled, watermark } from '../../../operations/orders/stream.ts'
import { pause } from '../../../runtime/wait.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import type { CliContext } from '../../context.ts'
import type { Wait } from '../../orders.ts'
import { facts } from '../../output/output.ts'

const pollMs = 1_000

export const backfillWait: Wait = {
  help: 'until these blocks are read, with the progress on stderr; Ctrl-C ends only the wait',
  async until({ context, options }, client, { json }) {
    const [from, to] = [Number(options['from']), Number(options['to'])]
    const { view: ordered } = json as { readonly view: StreamReport }
    const last = lastBackfilled(ordered, from, to)
    const view = viewStream(await untilRead(context, client, ordered.stream, from, last))
    const text = facts({
      stream: view.stream,
      done: `blocks ${from}-${last}${last < to ? `; the live scan reads those above ${last}` : ''}`,
      backfill: `${view.backfill.left} blocks left of all that is ordered`,
      ...watermark(view),
    })
    return { json: { done: true, view: toReport(view, () => undefined) }, text }
  },
}

/** Throws what a read of the stream throws. */
async function untilRead(context: CliContext, client: TemporalClient, stream: string, from: number, to: number): Promise<StreamState> {
  for (let said: string | undefined; ; await pause(pollMs)) {
    const state = await readStream(client, stream)
    const left = leftOf(state, from, to)
    if (left === 0) return state
    const total = to - from + 1
    const paused = state.paused ? `; paused by ${state.paused.by}: ${state.paused.reason}` : ''
    const text = `${harmless(`${total - left} of ${total} blocks read${paused}`)}\n`
    if (text !== said) context.stderr.write(text)
    said = text
  }
}

function leftOf({ backfill: { left } }: StreamState, from: number, to: number): number {
  return left.reduce((sum, [low, high]) => sum + Math.max(0, Math.min(to, Number(high)) - Math.max(from, Number(low)) + 1), 0)
}
