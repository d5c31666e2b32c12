import { RelayerError } from '../../domain/catalogue/errors.ts'
import { gapAt } from '../../domain/stream/gaps.ts'
import { assertStreamRequest, type StreamOrder as StreamOrderRequest } from '../../domain/stream/request.ts'
import type { GapState, StreamState } from '../../domain/stream/stream.ts'
import type { Order } from '../../domain/order.ts'
import { checkedOrder } from '../../temporal/client/calls/workflow-calls.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { sendStreamOrder } from '../../temporal/client/streams/streams.ts'
import { readStream } from './reports.ts'

export type StreamOrder = StreamOrderRequest & { readonly order: Order }

/**
 * Gives a stream an order. Safe to repeat. `done` is false if the order changed nothing. Throws INPUT_INVALID and the
 * errors of `readStream`.
 */
export async function orderStream(client: TemporalClient, stream: string, order: StreamOrder) {
  const request = { ...order, order: checkedOrder(order.order) }
  try {
    assertStreamRequest(request, 'order')
  } catch (error) {
    throw new RelayerError('INPUT_INVALID', { detail: error instanceof Error ? error.message : String(error) })
  }
  const state = await readStream(client, stream)
  const detail = misfit(state, order)
  if (detail !== undefined) throw new RelayerError('INPUT_INVALID', { detail, facts: { stream } })
  const { answers, view } = await sendStreamOrder(client, stream, { requests: [request] })
  const [answer] = answers
  if (answer?.kind === 'refused') throw new RelayerError('INPUT_INVALID', { detail: answer.detail, facts: { stream } })
  const warning = warningOf(state, order)
  return { done: answer?.kind === 'done', view, ...(warning !== undefined && { warning }) }
}

const skippedStates: Readonly<Partial<Record<GapState, string>>> = {
  unasked: 'no server has been asked for its message yet, or no server could be reached',
  unstarted: 'its message was received, and its transfer waits to be started',
  hidden: "the source's table has it",
  undone: 'its transfer is to be started again',
}

function warningOf({ gaps, open }: StreamState, order: StreamOrder): string | undefined {
  if (order.kind !== 'skip') return undefined
  const gap = gapAt(gaps, BigInt(order.number))
  const why = gap
    ? skippedStates[gap.state]
    : open.some((one) => one.number === order.number)
      ? 'its transfer is under way, and continues'
      : undefined
  const code = gap?.code === undefined ? '' : ` (${gap.code}${gap.chain === undefined ? '' : ` of ${gap.chain}`})`
  return why && `${order.number} may have a valid transfer: ${why}${code}. portage stream unskip starts it again.`
}

function misfit({ config, cursor, next, exceptions }: StreamState, order: StreamOrder): string | undefined {
  if (order.kind === 'unskip') {
    const isKnown = BigInt(order.number) < BigInt(next) || exceptions.some(({ number }) => number === order.number)
    return isKnown ? undefined : `number: ${order.number} is not known to exist: the highest number is below ${next}`
  }
  if (order.kind === 'backfill') {
    if (config.start === undefined) return 'the stream reads no blocks of its source; portage stream audit looks for missing numbers'
    if (!cursor || order.from <= cursor.height) return undefined
    return `from: above the cursor (${cursor.height}): the live scan reads these blocks`
  }
  if (order.kind !== 'reread') return undefined
  if (!cursor) return 'the stream has read no block yet'
  return order.block.height < cursor.height ? undefined : `block.height: must be below the cursor (${cursor.height})`
}
