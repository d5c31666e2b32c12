import { RelayerError } from '../domain/errors.ts'
import type { StreamRequest, StreamState } from '../domain/stream/stream.ts'

/** What operators order of a stream; the rest of its requests is its agents' to tell. */
export type StreamOrder = Extract<
  StreamRequest,
  { kind: 'skip' | 'unskip' | 'backfill' | 'trust' | 'reread' | 'setMaxOpen' | 'pause' | 'resume' }
>

/** Refuses an order that would look obeyed and change nothing. Throws INPUT_INVALID. */
export function assertOrderFits(state: StreamState, order: StreamOrder): void {
  const detail = misfit(state, order)
  if (detail !== undefined) throw new RelayerError('INPUT_INVALID', { detail, facts: { stream: state.config.stream } })
}

function misfit({ config, cursor, next, exceptions }: StreamState, order: StreamOrder): string | undefined {
  switch (order.kind) {
    case 'unskip': {
      const isKnown = BigInt(order.number) < BigInt(next) || exceptions.some(({ number }) => number === order.number)
      return isKnown ? undefined : `number: ${order.number} is not known to exist: the highest number is below ${next}`
    }
    case 'backfill':
      if (config.start === undefined) return 'the stream reads no blocks of its source; portage stream audit looks for what is missing'
      if (!cursor || order.from <= cursor.height) return undefined
      return `from: above the cursor (${cursor.height}): these blocks are the live scan's own`
    case 'reread':
      if (!cursor) return 'the stream has read no block yet'
      return order.block.height < cursor.height ? undefined : `block.height: must be below the cursor (${cursor.height})`
    case 'trust':
    case 'skip':
    case 'setMaxOpen':
    case 'pause':
    case 'resume':
      return undefined
  }
}
