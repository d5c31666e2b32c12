import { laneSchema } from '../../config/schema/lane-schema.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../lab/devnet/ports.ts'
import { until } from '../../lab/devnet/until.ts'
import { silentLogger } from '../../observability/logger.ts'
import type { StreamRequest } from '../../domain/stream/stream.ts'
import type { LaneState } from '../../domain/lane/lane.ts'
import { applyToLane, readLane } from '../../temporal/client/lanes/lanes.ts'
import { applyToStream } from '../../temporal/client/streams/streams.ts'
import { type StreamStage, startStreamStage } from '../helpers/stream-stage.ts'
import { deadConfig, openApi } from './setting.ts'

const stream = 'native-bridge:ethereum:bsc'
const by = { reason: 'a test' }

let stage: StreamStage
let setting: Awaited<ReturnType<typeof openApi>>
const audited: string[] = []
beforeAll(async () => {
  stage = await startStreamStage()
  const dead = deadConfig(await freePort())
  const { signing, ...ethereum } = dead.chains['ethereum']!
  const lanes = [laneSchema.parse({ address: `0x${'a'.repeat(40)}` })]
  const config = {
    ...dead,
    chains: { ...dead.chains, ethereum: { ...ethereum, signing: { ...signing, topUps: true }, lanes } },
    temporal: { address: stage.address, namespace: 'default', useEnvironment: false },
  }
  const auditStream = async (name: string) => {
    audited.push(name)
    return { upTo: '4', height: 20, gaps: 1, completed: 0, started: 0, closed: 0, undone: 0 }
  }
  setting = await openApi(config, silentLogger(), { auditStream })
})
afterAll(async () => {
  await setting?.close()
  await stage?.stop()
})

describe('/v1/streams', () => {
  const get = (path = '') => setting.api.inject({ method: 'GET', url: `/v1/streams${path}` })
  const post = (order: string, payload?: object, name = stream) =>
    setting.api.inject({ method: 'POST', url: `/v1/streams/${name}/${order}`, ...(payload && { payload }) })

  beforeAll(async () => {
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

  test('GET /v1/streams lists streams, and shows the whole state of one', async () => {
    const listed = async () => (await get()).json<{ streams: object[] }>().streams
    await until(async () => (await listed()).length === 1, { timeoutMs: 60_000, what: 'the server to list the stream' })
    const report = { stream, cursor: 20, open: 2, gaps: { unasked: '1' }, completed_nonce_height: '1', completed_block_height: 4 }
    expect(await listed()).toEqual([expect.objectContaining(report)])
    const shown = await get(`/${encodeURIComponent(stream)}`)
    expect(shown.statusCode).toBe(200)
    // `asOf` is the time of the read, and `updatedAt` is the time of the last report to the stream.
    const { asOf } = (await get()).json<{ asOf: string }>()
    const { updatedAt, ...whole } = shown.json<{ asOf: string; updatedAt: number; view: object }>()
    expect(whole).toMatchObject({ asOf: expect.stringMatching(/^2.*Z$/), view: { updatedAt, asOf: whole.asOf } })
    expect(Date.parse(asOf) - Date.parse(whole.asOf)).toBeGreaterThanOrEqual(0)
    expect(Date.parse(whole.asOf) - updatedAt).toBeGreaterThanOrEqual(0)
    expect(shown.json()).toMatchObject({ next: '5', gaps: [{ from: '3', to: '3' }], backfill: { left: [['5', '9']] }, view: report })
    expect((await get('/nothing')).json()).toMatchObject({ code: 'STREAM_NOT_FOUND' })
    expect((await get('/nothing')).statusCode).toBe(404)
  })

  test('orders to a stream are answered with its new state', async () => {
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

  test('a stream is audited and its checkpoint written; an unknown stream is refused', async () => {
    const found = await post('audit')
    expect([found.statusCode, found.json()]).toMatchObject([200, { stream, upTo: '4', gaps: 1, undone: 0 }])
    expect((await post('audit', undefined, 'native-bridge:bsc:ethereum')).json()).toMatchObject({ code: 'STREAM_NOT_FOUND' })
    expect(audited).toEqual([stream])
    expect((await get(`/${stream}/checkpoint`)).json()).toEqual({ stream })
    const written = (await post('checkpoint')).json<{ written: object }>()
    expect(written).toMatchObject({ stream, written: { stream, cursor: { height: 20 } } })
    expect((await get(`/${stream}/checkpoint`)).json()).toEqual({ stream, kept: written.written })
    for (const method of ['GET', 'POST'] as const) {
      const refused = await setting.api.inject({ method, url: '/v1/streams/..%2F..%2Fsecret/checkpoint' })
      expect([refused.statusCode, refused.json()]).toMatchObject([404, { code: 'STREAM_NOT_FOUND' }])
    }
  })

  test.each<[string, string, object, string]>([
    ['a number as a number', 'skip', { number: 3, ...by }, 'body.number: '],
    ['a number beyond u64', 'skip', { number: '18446744073709551616', ...by }, 'body.number: must be a whole number below 2^64'],
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
  ])('/v1/streams refuses %s: %s', async (_, order, payload, why) => {
    const response = await post(order, payload)
    expect(response.json()).toMatchObject({ code: 'INPUT_INVALID', detail: expect.stringContaining(why) })
    expect(response.statusCode).toBe(400)
  })

  test('/v1/streams refuses an order to a stream that does not exist, and does not start it', async () => {
    const response = await post('pause', by, 'native-bridge:bsc:ethereum')
    expect([response.statusCode, response.json<{ code: string }>().code]).toEqual([404, 'STREAM_NOT_FOUND'])
    expect((await get('/native-bridge:bsc:ethereum')).statusCode).toBe(404)
  })

  test('the OpenAPI document has every route of a stream', async () => {
    const { paths } = (await setting.api.inject({ method: 'GET', url: '/v1/openapi.json' })).json<{ paths: Record<string, object> }>()
    const orders = ['skip', 'unskip', 'backfill', 'pause', 'reread', 'resume', 'set-max-open', 'trust', 'audit', 'checkpoint'].map(
      (order) => `/v1/streams/{stream}/${order}`,
    )
    expect(
      Object.keys(paths)
        .filter((path) => path.startsWith('/v1/streams'))
        .toSorted(),
    ).toEqual(['/v1/streams', '/v1/streams/{stream}', ...orders].toSorted())
  })
})

describe('orders to a lane', () => {
  const lane = `evm-1337:0x${'a'.repeat(40)}`
  const other = `evm-1337:0x${'b'.repeat(40)}`
  const by = { by: 'night-shift', reason: 'a test' }
  const order = async (name: string, body: object = {}, of = lane) => {
    const response = await setting.api.inject({ method: 'POST', url: `/v1/lanes/${of}/${name}`, payload: { reason: by.reason, ...body } })
    return { status: response.statusCode, ...response.json<object>() }
  }
  const state = () => readLane(stage.client, lane)
  const reaches = (what: string, isSo: (now: LaneState) => boolean) =>
    until(async () => isSo(await state()), { timeoutMs: 60_000, what: `the lane to be ${what}` })
  const attempt = { kind: 'call', gasLimit: '21000', maxFee: '2', tip: '1' } as const

  test('each order to a lane is carried out and kept in its ledger, with name and reason', async () => {
    const observe = { latest: 0, finalized: 0, height: 1, hash: '0x01', balance: '1000000000000', claims: [], since: 1, pending: 0 }
    const grants = ['a', 'b', 'c'].map((name) => ({
      ...({ kind: 'grant', id: name, attempt } as const),
      owner: { intentId: `a-transfer:${name}/1`, callHash: `0x${name}` },
    }))
    const start = { config: { lane, window: 8, fillAfterBlocks: 100 } }
    const { answers } = await applyToLane(stage.client, lane, { observe, requests: grants }, { start })
    expect(answers.map(({ kind }) => kind)).toEqual(['granted', 'granted', 'granted'])

    expect(await order('cancel-nonce', { nonce: 0 })).toMatchObject({ status: 200, done: true })
    expect(await order('replace', { nonce: 1, maxFee: '30' })).toMatchObject({ status: 200, done: true })
    expect(await order('republish')).toMatchObject({ status: 200, done: true, view: { republish: { at: expect.any(Number) } } })
    expect(await order('set-window', { window: 3 })).toMatchObject({ status: 200, view: { window: 3 } })
    const { entries, config } = await state()
    expect([entries[0]?.fill, entries[1]?.raise, config.window]).toEqual(['cancelled', { after: 1, maxFee: '30' }, 3])

    expect(await order('pause')).toMatchObject({ status: 200, asked: 'pause' })
    await reaches('paused', ({ paused }) => paused?.kind === 'operator' && paused.by === by.by)
    expect(await order('resume')).toMatchObject({ status: 200 })
    await reaches('resumed', ({ paused }) => paused === undefined)
    expect(await order('drain')).toMatchObject({ status: 200 })
    await reaches('draining', ({ closing }) => closing?.mode === 'draining')
    expect(await order('forbid')).toMatchObject({ status: 200 })
    await reaches('forbidden', ({ closing }) => closing?.mode === 'forbidden')
    // When a transfer leaves a forbidden lane, its nonce has no owner, and the lane fills the nonce.
    await applyToLane(stage.client, lane, { requests: [{ kind: 'withdraw', id: 'w', intentId: 'a-transfer:c/1', how: 'abandon' }] })
    expect(await order('fill', { nonce: 1 })).toMatchObject({ status: 400, code: 'INPUT_INVALID' })
    expect(await order('fill', { nonce: 2 })).toMatchObject({ status: 200, done: true })
    expect((await state()).entries[2]).toMatchObject({ nonce: 2, fill: 'operator' })
    expect(await order('activate')).toMatchObject({ status: 200 })
    await reaches('active', ({ closing }) => closing === undefined)

    expect(await order('resync')).toMatchObject({ status: 200, view: { synced: false } })
    expect(await order('reset', { chainReplaced: true })).toMatchObject({ status: 200, view: { era: 1, inFlight: 0 } })
    const given = (await state()).orders ?? []
    expect(given.map(({ kind }) => kind)).toEqual(
      'cancelNonce replace republish setWindow pause resume drain forbid fill activate resync reset'.split(' '),
    )
    for (const one of given) expect(one).toMatchObject(by)
  })

  test('an order sets the window of every lane, and names the lanes that did not answer', async () => {
    const start = { config: { lane, window: 8, fillAfterBlocks: 100 } }
    await applyToLane(stage.client, lane, { requests: [] }, { start })
    const url = '/v1/lanes/set-windows'
    const response = await setting.api.inject({ method: 'POST', url, payload: { reason: by.reason, window: 5 } })
    const { lanes } = response.json<{ lanes: readonly { lane: string; window?: number; code?: string }[] }>()
    expect(lanes).toContainEqual({ lane, window: 5 })
    expect((await state()).config.window).toBe(5)
    expect((await state()).orders?.at(-1)).toMatchObject({ kind: 'setWindow', ...by })
    expect(lanes.filter((one) => one.lane !== lane).map(({ code }) => code)).toEqual(lanes.slice(1).map(() => 'LANE_NOT_FOUND'))
    const unknown = await setting.api.inject({ method: 'POST', url, payload: { reason: by.reason, window: 5, chain: 'nowhere' } })
    expect(unknown.json()).toMatchObject({ code: 'INPUT_INVALID' })
  })

  test('a payment is started once for a key, and ends when its cancellation is ordered', async () => {
    const headers = { 'idempotency-key': 'a-top-up' }
    const payload = { from: lane, amount: '7', reason: by.reason }
    const topUp = () => setting.api.inject({ method: 'POST', url: `/v1/lanes/${other}/top-up`, headers, payload })
    const [first, again] = [await topUp(), await topUp()]
    expect([first.statusCode, again.statusCode, again.headers['idempotency-replayed']]).toEqual([202, 202, 'true'])
    const { id } = first.json<{ id: string }>()
    expect(again.json()).toEqual({ id, lane })
    const listed = async () => {
      const { transactions } = (await setting.api.inject(`/v1/lanes/${lane}/transactions`)).json<{ transactions: { status?: object }[] }>()
      return transactions[0]?.status && transactions
    }
    expect(await until(listed, { timeoutMs: 60_000, what: 'it to be listed' })).toMatchObject([
      { id, status: { ...by, lane, intent: { to: other.slice(9), value: '7', data: '0x' } } },
    ])
    expect(await order('top-up', { from: lane, amount: '7' })).toMatchObject({ status: 400, code: 'INPUT_INVALID' })
    expect(await order('sweep', { keep: '1' })).toMatchObject({ status: 400, code: 'INPUT_INVALID' })
    const end = { method: 'POST', url: `/v1/transactions/${id}/cancel`, payload: { reason: by.reason } } as const
    expect((await setting.api.inject(end)).json()).toEqual({ id, asked: 'cancel' })
    const isAsked = async () =>
      ((await listed()) ?? []).some(({ status }) => (status as { cancelledBy?: object }).cancelledBy !== undefined)
    await until(isAsked, { timeoutMs: 60_000, what: 'it to know of its end' })
  })
})
