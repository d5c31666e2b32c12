import { defaultPayloadConverter, type Payload } from '@temporalio/common'
import { describe, expect, test } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import { retrySignal } from '../../temporal/contracts/transfer.ts'
import { scriptedTransfers, sound, waiting } from './scripted.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const carrier = (traceparent: unknown) => defaultPayloadConverter.toPayload({ traceparent })
const header = (payload: Payload | undefined) => ({ '_tracer-data': payload as Payload })

/** Workers as in a process that sends traces. */
describe('The trace of a transfer', () => {
  const on = scriptedTransfers(true)
  const parents = () => on.traced.headers.map(({ '_tracer-data': payload }) => payload && defaultPayloadConverter.fromPayload(payload))

  test('goes from its start to its steps, through its run, and from run to run', async () => {
    on.script.broadcast = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full' })
    const handle = await on.start({}, header(carrier(`00-${traceId}-00f067aa0ba902b7-01`)))
    await on.reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
    const first = (await handle.describe()).runId
    await on.nextRun(handle)
    on.script.broadcast = sound.broadcast
    await handle.signal(retrySignal)
    expect(await handle.result()).toMatchObject({ state: 'delivered' })
    const last = (await handle.describe()).runId
    await until(() => on.traced.runs.length >= 2, { ...waiting, what: 'both runs to be told' })
    const spanOf = (runId: string) => runId.replaceAll('-', '').slice(-16)
    expect(on.traced.runs[0]).toMatchObject({ traceId, spanId: spanOf(first), parentSpanId: '00f067aa0ba902b7', flags: '01' })
    expect(on.traced.runs.at(-1)).toMatchObject({ traceId, spanId: spanOf(last), parentSpanId: '00f067aa0ba902b7' })
    for (const { startedAt, endedAt } of on.traced.runs) expect(endedAt).toBeGreaterThanOrEqual(startedAt)
    const seen = parents()
    expect(seen[0]).toEqual({ traceparent: `00-${traceId}-${spanOf(first)}-01` })
    expect(seen.at(-1)).toEqual({ traceparent: `00-${traceId}-${spanOf(last)}-01` })
  })

  test.each([
    ['none', undefined],
    ['no JSON', { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{') }],
    ['an unknown encoding', { metadata: { encoding: Buffer.from('x/y') }, data: Buffer.from('{}') }],
    ['an empty payload', {}],
    ['a number', defaultPayloadConverter.toPayload(1)],
    ['null', defaultPayloadConverter.toPayload(null)],
    ['a list in its place', carrier(['00'])],
    ['text that is longer', carrier(`00-${traceId}-00f067aa0ba902b7-01\nx`)],
    ['another version', carrier(`ff-${traceId}-00f067aa0ba902b7-01`)],
  ] as const)('a header that somebody made up (%s) breaks no task, and reaches no step', async (_, payload) => {
    const handle = await on.start({}, payload === undefined ? undefined : header(payload))
    expect(await handle.result()).toMatchObject({ state: 'delivered' })
    expect(on.traced.headers.length).toBeGreaterThan(0)
    expect(parents()).toEqual(on.traced.headers.map(() => undefined))
    expect(on.traced.runs).toEqual([])
    const { events = [] } = await handle.fetchHistory()
    expect(events!.filter(({ workflowTaskFailedEventAttributes }) => workflowTaskFailedEventAttributes)).toEqual([])
  })
})
