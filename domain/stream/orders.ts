import { orderFacts, orderOf, type GivenOrder, withOrder } from '../order.ts'
import { clip } from './gaps.ts'
import type { StreamRequest, StreamState } from './stream.ts'

/** What operators order of a stream, and its agents in the same way. The other requests tell what was found. */
export type StreamOrder = Extract<
  StreamRequest,
  { kind: 'skip' | 'unskip' | 'backfill' | 'trust' | 'reread' | 'setMaxOpen' | 'pause' | 'resume' }
>

const kinds: ReadonlySet<string> = new Set<StreamOrder['kind']>([
  'skip',
  'unskip',
  'backfill',
  'trust',
  'reread',
  'setMaxOpen',
  'pause',
  'resume',
])

export function isStreamOrder(request: StreamRequest): request is StreamOrder {
  return kinds.has(request.kind)
}

/** Keeps who gave the order, and why, clipped like all texts of the state. @param at ms since the epoch by the stream's clock */
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
