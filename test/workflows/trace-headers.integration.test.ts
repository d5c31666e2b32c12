import { ApplicationFailure, defaultPayloadConverter, type Payload } from '@temporalio/common'
import { Runtime, Worker } from '@temporalio/worker'
import { describe, expect, test } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import { errorCatalogue } from '../../domain/catalogue/errors.ts'
import { silentLogger } from '../../observability/logger.ts'
import { retrySignal } from '../../temporal/contracts/transfer.ts'
import { workflowBundle } from '../../workers/process/bundle.ts'
import { connectTemporal } from '../../workers/process/temporal.ts'
import { landed, lanes, scriptedTransfers, sound, waiting } from './scripted.ts'
import { recordingLogger } from '../helpers/recording-logger.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const carrier = (traceparent: unknown) => defaultPayloadConverter.toPayload({ traceparent })
const header = (payload: Payload | undefined) => ({ '_tracer-data': payload as Payload })

describe('The trace of a transfer', () => {
  const on = scriptedTransfers(true)
  const parents = () => on.traced.headers.map(({ '_tracer-data': payload }) => payload && defaultPayloadConverter.fromPayload(payload))

  test('the trace of a transfer goes from its start to its steps, and from run to run', async () => {
    on.script.broadcast = () => ({ kind: 'pending', nonce: 7, attempts: 1, reason: 'blocks are full', tried: [] })
    const handle = await on.start({}, header(carrier(`00-${traceId}-00f067aa0ba902b7-01`)))
    await on.reaches(handle, ({ state }) => state === 'pending', 'the transfer to be pending')
    const first = (await handle.describe()).runId
    await on.nextRun(handle)
    on.script.broadcast = sound.broadcast
    await handle.signal(retrySignal)
    expect(await handle.result()).toMatchObject({ state: 'delivered' })
    const last = (await handle.describe()).runId
    await until(() => on.traced.runs.length >= 2, { ...waiting, what: 'both runs to be reported' })
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
  ] as const)('an invented trace header (%s) breaks no task, and reaches no step', async (_, payload) => {
    const handle = await on.start({}, payload === undefined ? undefined : header(payload))
    expect(await handle.result()).toMatchObject({ state: 'delivered' })
    expect(on.traced.headers.length).toBeGreaterThan(0)
    expect(parents()).toEqual(on.traced.headers.map(() => undefined))
    expect(on.traced.runs).toEqual([])
    const { events = [] } = await handle.fetchHistory()
    expect(events!.filter(({ workflowTaskFailedEventAttributes }) => workflowTaskFailedEventAttributes)).toEqual([])
  })

  const ids = {
    bridge: 'wormhole-token-bridge',
    source: 'ethereum',
    target: 'bsc',
    sequence: '1',
    run_id: expect.any(String),
    time: expect.any(String),
  }
  /** The lines of a transfer, each once: a task that took too long is repeated and writes its lines again. */
  const said = (handle: Parameters<typeof on.logged>[0]) => {
    const told = on.logged(handle)
    return told.filter(({ message, code }, index) => index === told.findIndex((one) => one['message'] === message && one['code'] === code))
  }

  test('a transfer logs its start and end with the ids of its trace, and a replay logs nothing', async () => {
    const handle = await on.start({ seenAt: Date.now() - 5_000 }, header(carrier(`00-${traceId}-00f067aa0ba902b7-01`)))
    expect(await handle.result()).toMatchObject({ state: 'delivered' })
    await until(() => said(handle).length >= 2, { ...waiting, what: 'both lines' })
    const { runId } = await handle.describe()
    const trace = { trace_id: traceId, span_id: runId.replaceAll('-', '').slice(-16) }
    const about = { ...ids, ...trace, run_id: runId, level: 'info', transfer: handle.workflowId }
    expect(said(handle)).toEqual([
      { ...about, message: 'transfer started' },
      { ...about, message: 'transfer delivered', lane: lanes[0], txHash: '0x07', tookMs: expect.any(Number) },
    ])
    expect(said(handle)[1]!['tookMs']).toBeGreaterThanOrEqual(5_000)

    const before = on.logged(handle).length
    await Worker.runReplayHistory(
      { workflowBundle: await workflowBundle(silentLogger(), true) },
      await handle.fetchHistory(),
      handle.workflowId,
    )
    // Run a later transfer, because lines of the replay would be written before its lines.
    const next = await on.start()
    await next.result()
    await until(() => said(next).length >= 2, { ...waiting, what: 'the lines of the next one' })
    expect(on.logged(handle)).toHaveLength(before)
    for (const line of on.logged(next)) expect(Object.keys(line)).not.toContain('trace_id')
  })

  test('a transfer logs each reason of a wait once, and parking as a warning with a remedy', async () => {
    on.script.admit = () => ({ kind: 'waiting', code: 'WRAPPER_MISSING', reason: 'no wrapper of \u009btoken', retryInMs: 60_000 })
    const handle = await on.start()
    const waited = (times: number) =>
      on.reaches(handle, ({ timeline }) => timeline.filter(({ state }) => state === 'waiting').length >= times, `wait ${times}`)
    await waited(1)
    await on.retry(handle)
    await waited(2)
    on.script.admit = sound.admit
    on.script.broadcast = () => ({ kind: 'included', landed, finalInMs: 0 })
    on.script.confirm = () => {
      throw ApplicationFailure.nonRetryable('the config has no such chain', 'TARGET_CHAIN_UNSUPPORTED')
    }
    await on.retry(handle)
    await on.reaches(handle, ({ state }) => state === 'parked', 'the transfer to be parked')
    await until(() => said(handle).some(({ message }) => message === 'transfer parked'), { ...waiting, what: 'its last line' })
    const about = { ...ids, transfer: handle.workflowId }
    expect(said(handle)).toEqual([
      { ...about, level: 'info', message: 'transfer started' },
      { ...about, level: 'info', message: 'transfer waits', code: 'WRAPPER_MISSING', reason: 'no wrapper of \u009btoken' },
      {
        ...{
          ...about,
          level: 'warn',
          message: 'transfer parked',
          code: 'TARGET_CHAIN_UNSUPPORTED',
          reason: 'the config has no such chain',
        },
        lane: lanes[0],
        remedy: errorCatalogue.TARGET_CHAIN_UNSUPPORTED.remedy,
      },
    ])
    await handle.terminate()
  })

  test('log lines of the SDK go to the logger of the latest connection of the process', async () => {
    const { logger, lines } = recordingLogger()
    const said = () => lines.map(({ message }) => message)
    const later = await connectTemporal({ address: on.server.address, namespace: 'default' }, logger)
    Runtime.instance().logger.warn('a line after it')
    await until(() => said().includes('a line after it'), { ...waiting, what: 'the line' })
    expect(said().filter((message) => message === 'a line after it')).toHaveLength(1)
    await later.connection.close()
  })
})
