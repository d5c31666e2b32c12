import { orderFacts, orderOf, type GivenOrder, withOrder } from '../order.ts'
import { clip } from './gaps.ts'
import type { StreamRequest, StreamState } from './stream.ts'

/** Requests that are orders: of operators, or of the stream's agents. The other requests report findings. */
export type StreamOrder = Extract<
  StreamRequest,
  { kind: 'skip' | 'unskip' | 'backfill' | 'trust' | 'reread' | 'setMaxOpen' | 'pause' | 'resume' }
>

const kinds: readonly string[] = [
  'skip',
  'unskip',
  'backfill',
  'trust',
  'reread',
  'setMaxOpen',
  'pause',
  'resume',
] satisfies StreamOrder['kind'][]

export function isStreamOrder(request: StreamRequest): request is StreamOrder {
  return kinds.includes(request.kind)
}

/** Records author and reason, clipped. @param at ms since the epoch by the stream's clock */
export function noted(state: StreamState, order: StreamOrder, at: number): StreamState {
  const { by, reason } = orderOf(order, 'update')
  const record: GivenOrder = { kind: order.kind, by: clip(by), reason: clip(reason), at, ...orderFacts(factsOf(order)) }
  return { ...state, orders: withOrder(state.orders, record) }
}

function factsOf(order: StreamOrder): Readonly<Record<string, string | number | undefined>> {
  switch (order.kind) {
    case 'skip':
    case 'unskip':
      return { number: order.number }
    case 'trust':
      return { number: order.number, height: order.height }
    case 'backfill':
      return { from: order.from, to: order.to }
    case 'reread':
      return { block: order.block.height }
    case 'setMaxOpen':
      return { maxOpen: order.maxOpen ?? 'configured' }
    case 'pause':
    case 'resume':
      return {}
  }
}
