import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../lab/devnet/ports.ts'
import { until } from '../../lab/devnet/until.ts'
import type { StreamRequest } from '../../domain/stream/stream.ts'
import { applyToStream } from '../../temporal/client/streams.ts'
import { type StreamStage, startStreamStage } from '../helpers/stream-stage.ts'
import { deadConfig, openApi } from './setting.ts'

const stream = 'native-bridge:ethereum:bsc'
const by = { reason: 'a test' }

describe('/v1/streams', () => {
  let stage: StreamStage
  let setting: Awaited<ReturnType<typeof openApi>>
  const get = (path = '') => setting.api.inject({ method: 'GET', url: `/v1/streams${path}` })
  const post = (order: string, payload?: object, name = stream) =>
    setting.api.inject({ method: 'POST', url: `/v1/streams/${name}/${order}`, ...(payload && { payload }) })

  beforeAll(async () => {
    stage = await startStreamStage()
    setting = await openApi({
      ...deadConfig(await freePort()),
      temporal: { address: stage.address, namespace: 'default', useEnvironment: false },
    })
    const numbers = [
      ['1', 11],
      ['2', 12],
      ['4', 15],
    ] as const
    const requests: StreamRequest[] = [
      { kind: 'scanned', from: 10, to: 20, parentHash: '0x09', hash: '0x14', numbers, passed: [], delivered: [['1', '1']] },
    ]
    await applyToStream(
      stage.client,
      stream,
      { requests },
      {
        begin: () => ({ config: { stream, origin: '1/0xaa', first: '1', start: 5, maxOpen: 10 } }),
      },
    )
  })
  afterAll(async () => {
    await setting?.close()
    await stage?.stop()
  })

  test('lists them, and shows one whole', async () => {
    const listed = async () => (await get()).json<{ streams: object[] }>().streams
    await until(async () => (await listed()).length === 1, { timeoutMs: 60_000, what: 'the server to list the stream' })
    const report = { stream, cursor: 20, open: 2, gaps: { unasked: '1' }, completed_nonce_height: '1', completed_block_height: 4 }
    expect(await listed()).toEqual([expect.objectContaining(report)])
    const shown = await get(`/${encodeURIComponent(stream)}`)
    expect(shown.statusCode).toBe(200)
    // Each with when it was read, and when the stream was told anything last.
    const { asOf } = (await get()).json<{ asOf: string }>()
    const { toldAt, ...whole } = shown.json<{ asOf: string; toldAt: number; view: object }>()
    expect(whole).toMatchObject({ asOf: expect.stringMatching(/^2.*Z$/), view: { toldAt, asOf: whole.asOf } })
    expect(Date.parse(asOf) - Date.parse(whole.asOf)).toBeGreaterThanOrEqual(0)
    expect(Date.parse(whole.asOf) - toldAt).toBeGreaterThanOrEqual(0)
    expect(shown.json()).toMatchObject({ next: '5', gaps: [{ from: '3', to: '3' }], backfill: { left: [['5', '9']] }, view: report })
    expect((await get('/nothing')).json()).toMatchObject({ code: 'STREAM_NOT_FOUND' })
    expect((await get('/nothing')).statusCode).toBe(404)
  })

  test('applies orders, and answers with the stream after them', async () => {
    const answers = async (order: string, payload?: object) => {
      const response = await post(order, payload)
      return { status: response.statusCode, ...response.json<object>() }
    }
    expect(await answers('pause', by)).toMatchObject({
      status: 200,
      done: true,
      view: { paused: { by: 'night-shift', reason: 'a test' }, full: true },
    })
    expect(await answers('resume', by)).toMatchObject({ status: 200, done: true, view: { full: false } })
    expect(await answers('skip', { number: '3', ...by })).toMatchObject({
      status: 200,
      done: true,
      view: { gaps: {}, counts: { skipped: 1 } },
    })
    expect(await answers('skip', { number: '3', ...by })).toMatchObject({ status: 200, done: false })
    expect(await answers('unskip', { number: '3', ...by })).toMatchObject({ status: 200, done: true, view: { gaps: { undone: '1' } } })
    const backfill = { from: 10, to: 12, ...by }
    expect(await answers('backfill', backfill)).toMatchObject({ status: 200, view: { backfill: { left: 8, ordered: 8 } } })
    expect(await answers('trust', { number: '2', ...by })).toMatchObject({ status: 200, view: { completed_nonce_height: '2' } })
  })

  test.each<[string, string, object, string]>([
    ['a number as a number', 'skip', { number: 3, ...by }, 'body.number: '],
    ['a number beyond u64', 'skip', { number: '18446744073709551616', ...by }, 'body.number: must be at most'],
    ['no reason', 'skip', { number: '3' }, 'body.reason: '],
    ['no reason', 'backfill', { from: 1, to: 2 }, 'body.reason: '],
    ['no reason', 'trust', { number: '3' }, 'body.reason: '],
    ['no reason', 'resume', {}, 'body.reason: '],
    ['a name of its own', 'pause', { by: 'me', reason: 'a test' }, 'body.by: is not known here'],
    ['a range that ends before it begins', 'backfill', { from: 9, to: 8, ...by }, 'body.to: must not be below from'],
    ['a height below 0', 'backfill', { from: -1, to: 8, ...by }, 'body.from: '],
    ['blocks above the cursor', 'backfill', { from: 21, to: 30, ...by }, 'from: above the cursor (20)'],
    ['a field that does not belong', 'trust', { number: '3', hash: '0x', ...by }, 'body.hash: is not known here'],
    ['a number that is not known', 'skip', { number: '99', ...by }, '99 is not known to exist'],
    ['a watermark above what is known', 'trust', { number: '5', ...by }, 'number: 5 is not known to exist'],
    ['a trusted height above the cursor', 'trust', { number: '4', height: 21, ...by }, 'height: above the cursor (20)'],
    ['a number that is not known', 'unskip', { number: '99', ...by }, 'number: 99 is not known to exist'],
  ])('refuses %s: %s', async (_, order, payload, why) => {
    const response = await post(order, payload)
    expect(response.json()).toMatchObject({ code: 'INPUT_INVALID', detail: expect.stringContaining(why) })
    expect(response.statusCode).toBe(400)
  })

  test('refuses an order to a stream that does not exist, and does not start it', async () => {
    const response = await post('pause', by, 'native-bridge:bsc:ethereum')
    expect([response.statusCode, response.json<{ code: string }>().code]).toEqual([404, 'STREAM_NOT_FOUND'])
    expect((await get('/native-bridge:bsc:ethereum')).statusCode).toBe(404)
  })

  test('is in the OpenAPI document', async () => {
    const { paths } = (await setting.api.inject({ method: 'GET', url: '/v1/openapi.json' })).json<{ paths: Record<string, object> }>()
    const orders = ['skip', 'unskip', 'backfill', 'pause', 'reread', 'resume', 'set-max-open', 'trust'].map(
      (order) => `/v1/streams/{stream}/${order}`,
    )
    expect(
      Object.keys(paths)
        .filter((path) => path.startsWith('/v1/streams'))
        .toSorted(),
    ).toEqual(['/v1/streams', '/v1/streams/{stream}', ...orders].toSorted())
  })
})
