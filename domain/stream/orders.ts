import { orderFacts, orderOf, withOrder } from '../order.ts'
import { clip } from './gaps.ts'
import type { RequestOf, StreamRequest, StreamState } from './stream.ts'

type OrderKind = 'skip' | 'unskip' | 'backfill' | 'trust' | 'reread' | 'setMaxOpen' | 'pause' | 'resume'
type Facts = Readonly<Record<string, string | number | undefined>>

/** Requests that are orders: of operators, or of the stream's agents. The other requests report findings. */
export type StreamOrder = RequestOf<OrderKind>

/** The fields that the record of an order keeps. */
const factsOf: { readonly [Kind in OrderKind]: (order: RequestOf<Kind>) => Facts } = {
  skip: ({ number }) => ({ number }),
  unskip: ({ number }) => ({ number }),
  backfill: ({ from, to }) => ({ from, to }),
  trust: ({ number, height }) => ({ number, height }),
  reread: ({ block }) => ({ block: block.height }),
  setMaxOpen: ({ maxOpen = 'configured' }) => ({ maxOpen }),
  pause: () => ({}),
  resume: () => ({}),
}

export function isStreamOrder(request: StreamRequest): request is StreamOrder {
  return Object.hasOwn(factsOf, request.kind)
}

/** Records author and reason, clipped. @param at ms since the epoch by the stream's clock */
export function noted(state: StreamState, order: StreamOrder, at: number): StreamState {
  const { by, reason } = orderOf(order, 'update')
  const facts = (factsOf[order.kind] as (order: StreamOrder) => Facts)(order)
  return { ...state, orders: withOrder(state.orders, { kind: order.kind, by: clip(by), reason: clip(reason), at, ...orderFacts(facts) }) }
}
