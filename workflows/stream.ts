import { orderLines, orderOf } from '../domain/order.ts'
import { fromCheckpoint } from '../domain/stream/checkpoint.ts'
import { applyToStream, initialStream, viewStream } from '../domain/stream/reducer.ts'
import { assertStreamUpdate } from '../domain/stream/request.ts'
import type { StreamRequest, StreamResponse, StreamState, StreamUpdate } from '../domain/stream/stream.ts'
import { shellWord } from '../domain/text/printable.ts'
import { code as asCode, foreign, paragraphs } from '../domain/text/web-ui-text.ts'
import * as contract from '../temporal/contracts/stream.ts'
import { entityWorkflow } from './entity-workflow.ts'
import { continueAsNew, setCurrentDetails, setHandler } from '@temporalio/workflow'

const updatesPerRun = 300

/** The only writer of a stream. domain/stream/reducer.ts has the rules. */
export async function stream(input: contract.StreamInput): Promise<void> {
  let state = input.state ?? begin(input)

  const step = (update: StreamUpdate): StreamResponse => {
    const updatedAt = Date.now()
    const { state: next, response } = applyToStream(state, update, updatedAt)
    state = { ...next, updatedAt }
    setCurrentDetails(details(state))
    return { ...response, view: { ...response.view, updatedAt } }
  }
  const order = (request: StreamRequest) => void step({ requests: [request] })
  const full = entityWorkflow(contract.applyStreamUpdate, {
    updatesPerRun: input.updatesPerRun ?? updatesPerRun,
    apply: step,
    refuse: assertStreamUpdate,
  })
  setHandler(contract.pauseStreamSignal, (given) => order({ kind: 'pause', order: orderOf(given) }))
  setHandler(contract.resumeStreamSignal, (given) => order({ kind: 'resume', order: orderOf(given) }))
  setHandler(contract.streamStatusQuery, () => state)
  setHandler(contract.streamViewQuery, () => viewStream(state))
  setCurrentDetails(details(state))

  await full
  const { checkpoint: _, distrusted: __, ...rest } = input
  await continueAsNew<typeof stream>({ ...rest, state })
}

/**
 * The stream's first state. An invalid checkpoint is ignored: the backfill takes longer, and the process that started
 * the stream raises an alarm.
 */
function begin({ config, checkpoint, distrusted }: contract.StreamInput): StreamState {
  if (distrusted !== undefined) return { ...initialStream(config), distrusted: { ...distrusted, at: Date.now() } }
  if (checkpoint === undefined) return initialStream(config)
  try {
    return fromCheckpoint(config, checkpoint)
  } catch {
    return initialStream(config)
  }
}

function details(state: StreamState): string {
  const { stream, nextHeight, next, completedNumber, completedHeight, blockedBy, backfill, alarms, paused, ...view } = viewStream(state)
  const gaps = Object.entries(view.gaps).map(([name, count]) => `${count} ${name}`)
  const blocking = blockedBy && `${blockedBy.number}: ${blockedBy.why}${blockedBy.code ? ` ${asCode(blockedBy.code)}` : ''}`
  return paragraphs(
    `**${foreign(stream)}**${alarms.length > 0 ? ` alarms: ${foreign(alarms.join(', '))}` : ''}`,
    paused &&
      `**paused** by ${foreign(paused.by)}: ${foreign(paused.reason)}. To go on: ${asCode(`portage stream resume ${shellWord(stream) ?? '…'} --reason "…"`)}`,
    blocking && `the watermark waits for ${blocking}. To look: ${asCode(`portage stream show ${shellWord(stream) ?? '…'}`)}`,
    `open ${view.open} (${view.parked} parked, room for ${view.room}), gaps: ${gaps.join(', ') || 'none'}`,
    backfill.left > 0 && `backfill: ${backfill.left} of ${backfill.ordered} blocks left`,
    `next number ${next}, next block ${nextHeight ?? 'none yet'}, target followed to block ${view.targetHeight ?? 'none yet'}`,
    `completed_nonce_height ${completedNumber ?? 'none'}, completed_block_height ${completedHeight ?? 'none'}`,
    state.orders && state.orders.length > 0 && `Orders:\n\n${orderLines(state.orders).join('\n')}`,
  )
}
