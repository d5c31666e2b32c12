import { laneSchema } from '../../config/schema/lane-schema.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import { sourceIdsOf } from '../../config/chains.ts'
import { bearer } from '../../lab/devnet/access.ts'
import { claimKey } from '../../temporal/client/calls/idempotency-key.ts'
import { resolveTransfer } from '../../temporal/client/transfers/resolve-transfer.ts'
import { startOperatorTransaction } from '../../temporal/client/lanes/operator-transactions.ts'
import { restartTransfer, startTransfer } from '../../temporal/client/transfers/start-transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { type Ledgers, startLedgers } from '../lanes/setting.ts'
import { deadConfig, openApi, type OpenApi } from './setting.ts'
import { listenHttp } from '../helpers/servers.ts'

const emitter = 'e'.repeat(64)
/** The first digits are the sequence, because a transfer's id contains only the first 16 hex digits of the digest. */
const digestOf = (sequence: number) => `0x${String(sequence).padStart(4, '0')}${'ab'.repeat(30)}`
const transferOf = (sequence: number, to: 'bsc' | 'ethereum' = 'bsc') => ({
  ...{ bridge: 'wormhole-token-bridge', emitter, sequence: String(sequence), digest: digestOf(sequence), message: 'AQ==' },
  ...(to === 'bsc'
    ? { sourceChain: 'ethereum', sourceId: '2', targetChain: 'bsc' }
    : { sourceChain: 'bsc', sourceId: '4', targetChain: 'ethereum' }),
})

/** No worker runs, so the API must answer from Temporal's server alone. */
describe('transfers over HTTP', () => {
  let ledgers: Ledgers
  let setting: OpenApi
  const ids = [1, 2, 3, 4, 5].map((sequence) => transferId(transferOf(sequence)))
  const back = transferId(transferOf(7, 'ethereum'))
  const content = {
    amount: '1500000',
    decimals: '6',
    token: `2/${'ab'.repeat(32)}`,
    recipient: `0x${'cd'.repeat(20)}`,
    sourceTxHash: `0x${'ef'.repeat(32)}`,
  }

  const get = async (url: string) => {
    const response = await setting.api.inject(url)
    return { status: response.statusCode, body: response.json<Record<string, unknown>>() }
  }
  const post = async (url: string, payload: object, token?: string) => {
    const response = await setting.api.inject({ method: 'POST', url, payload, ...(token !== undefined && { headers: bearer(token) }) })
    return { status: response.statusCode, body: response.json<Record<string, unknown>>() }
  }
  const listed = async (query: string) => {
    const { status, body } = await get(`/v1/transfers?${query}`)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return { ids: (body['transfers'] as { id: string }[]).map(({ id }) => id), next: body['next'] as string | undefined }
  }
  const signals = async (id: string) => {
    const { events } = await ledgers.temporal.client.workflow.getHandle(id).fetchHistory()
    return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? [])
  }

  beforeAll(async () => {
    ledgers = await startLedgers()
    const config = deadConfig(1)
    const bsc = { ...config.chains['bsc']!, lanes: [laneSchema.parse({ address: `0x${'ab'.repeat(20)}` })] }
    const temporal = { ...config.temporal, address: ledgers.server.address }
    setting = await openApi({ ...config, chains: { ...config.chains, bsc }, temporal })
    for (const sequence of [1, 2, 3, 4, 5]) {
      await startTransfer(ledgers.temporal.client, transferId(transferOf(sequence)), { transfer: transferOf(sequence) })
    }
    await startTransfer(ledgers.temporal.client, back, { transfer: transferOf(7, 'ethereum') }, content)
    await until(async () => (await listed('limit=10')).ids.length === 6, {
      timeoutMs: 60_000,
      everyMs: 100,
      what: 'the server to list all',
    })
  })
  afterAll(async () => {
    await setting?.close()
    await ledgers?.stop()
  })

  test('transfers are listed by filters, page by page', async () => {
    expect((await listed('targetChain=bsc&state=admitting')).ids.toSorted()).toEqual(ids.toSorted())
    expect((await listed('chain=ethereum&execution=open')).ids).toHaveLength(6)
    expect((await listed('sourceChain=bsc')).ids).toEqual([back])
    expect((await listed('bridge=native-bridge')).ids).toEqual([])
    expect((await listed('state=parked&state=waiting')).ids).toEqual([])
    expect((await listed('code=LANE_NONE')).ids).toEqual([])
    expect((await listed('olderThan=1d')).ids).toEqual([])
    expect((await listed('youngerThan=1d&startedAfter=2020-01-01T00:00:00Z')).ids).toHaveLength(6)
    expect((await listed(`lane=evm-1397:0x${'A'.repeat(40)}`)).ids).toEqual([])
    expect((await listed(`sender=0x${'a'.repeat(40)}`)).ids).toEqual([])

    const found: string[] = []
    let page = await listed('targetChain=bsc&limit=2')
    for (; page.next; page = await listed(`targetChain=bsc&limit=2&cursor=${page.next}`)) found.push(...page.ids)
    expect([...found, ...page.ids].toSorted()).toEqual(ids.toSorted())
  })

  test('a row and a report have amount, token and recipient, even after a restart of the transfer', async () => {
    const shown = async () => [
      ((await get('/v1/transfers?sourceChain=bsc')).body['transfers'] as object[])[0],
      (await get(`/v1/transfers/${back}`)).body,
    ]
    expect(await shown()).toMatchObject([1, 2].map(() => ({ ...content, tokenAmount: '1.5' })))
    const { client } = ledgers.temporal
    await client.workflow.getHandle(back).terminate('a test')
    await restartTransfer(client, back)
    expect(await shown()).toMatchObject([content, content])
  })

  test.each([
    ['a cursor of another filter', async () => `cursor=${(await listed('targetChain=bsc&limit=2')).next}&limit=2`],
    ['a cursor that is none', async () => 'cursor=abc'],
    [
      'one whose end was changed',
      async () => `targetChain=bsc&limit=2&cursor=${(await listed('targetChain=bsc&limit=2')).next!.slice(0, 12)}bm90aGluZw`,
    ],
    ['a nonce without its lane', async () => 'nonce=1'],
    ['a nonce and a transaction', async () => `lane=evm-1397:0x${'a'.repeat(40)}&nonce=1&txHash=0x${'a'.repeat(64)}`],
  ])('%s is refused', async (_, query) => {
    expect(await get(`/v1/transfers?${await query()}`)).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID' } })
  })

  test('every wrong field of a request is named', async () => {
    const { status, body } = await get('/v1/transfers?state=lost&limit=0&colour=red&lane=x')
    expect([status, (body['errors'] as { path: string }[]).map(({ path }) => path).toSorted()]).toEqual([
      400,
      ['querystring.colour', 'querystring.lane', 'querystring.limit', 'querystring.state'],
    ])
    const bulk = await post('/v1/transfers/retry', { filter: { state: 'lost', nonce: -1 }, limit: 0 })
    expect((bulk.body['errors'] as { path: string }[]).map(({ path }) => path).toSorted()).toEqual([
      'body.filter.nonce',
      'body.filter.state',
      'body.limit',
      'body.reason',
    ])
  })

  test.each<[string, string]>([
    ['its id', ids[2]!],
    ['the beginning of its id', ids[2]!.slice(0, -12)],
    ['its last part', ids[2]!.split(':').at(-1)!],
    ['the beginning of that', '0003'],
    ['its sequence and digest', ids[2]!.split(':').slice(-2).join(':')],
    ['its digest', digestOf(3)],
    ['its digest in capitals, without 0x', digestOf(3).slice(2).toUpperCase()],
    ['chain, emitter and sequence', `2/${emitter}/3`],
    ['the same with the name of the chain', `ethereum:0x${emitter}:3`],
    ['source, target and number', 'ethereum:bsc:3'],
  ])('a transfer is found by %s', async (_, text) => {
    const sourceIds = (chain: string) => sourceIdsOf(deadConfig(1), chain)
    expect(await resolveTransfer(ledgers.temporal.client, text, { sourceIds })).toBe(ids[2])
  })

  test('a transfer without a worker is shown from the lists of the server', async () => {
    const { status, body } = await get('/v1/transfers/ethereum:bsc:3')
    expect([status, body]).toMatchObject([200, { id: ids[2], state: 'admitting', partial: 'no worker of the target chain answered' }])
  })

  test('an ambiguous id is refused with the candidates; an unknown one is not found', async () => {
    const { status, body } = await get('/v1/transfers/wormhole-token-bridge:2')
    expect([status, body['code'], body['facts']]).toMatchObject([
      409,
      'TRANSFER_AMBIGUOUS',
      { count: 5, candidates: expect.stringContaining(ids[0]!) },
    ])
    for (const text of ['nothing', `0x${'9'.repeat(64)}`, "x' OR '1'='1", '\u001b[31m', `2/${emitter}/99`, 'lane:x', '%25', '-1']) {
      expect(await get(`/v1/transfers/${encodeURIComponent(text)}`)).toMatchObject({ status: 404, body: { code: 'TRANSFER_NOT_FOUND' } })
    }
  })

  test('many requests for unknown ids cost one read of the list, and do not delay a request for a whole id', async () => {
    const list = vi.spyOn(setting.client.workflowService, 'listWorkflowExecutions')
    try {
      const asked = Array.from({ length: 60 }, (_, index) => get(`/v1/transfers/${900_000 + index}:dddd`))
      const whole = await get(`/v1/transfers/${encodeURIComponent(ids[0]!)}`)
      const answers = (await Promise.all(asked)).map(({ status, body }) => `${status} ${String(body['code'])}`)
      expect(whole.body).toMatchObject({ id: ids[0] })
      // The number of refused requests varies. test/api/read-gate.test.ts tests the limit.
      expect(answers.filter((one) => one !== '404 TRANSFER_NOT_FOUND' && one !== '503 API_BUSY')).toEqual([])
      // Searches share a page of Temporal's list for two seconds.
      const pages = list.mock.calls.filter(([{ pageSize }]) => pageSize === 1_000).length
      const searched = answers.filter((one) => one.startsWith('404')).length
      expect(searched).toBeGreaterThanOrEqual(18)
      expect(pages).toBeLessThan(searched)
      list.mockClear()
      expect((await listed('olderThan=1d&execution=closed')).ids).toEqual([])
      expect(list.mock.calls.map(([{ query }]) => query)).toEqual([
        expect.stringMatching(/\(StartTime < '.*' OR ExecutionStatus != 'Completed'\)$/),
      ])
    } finally {
      list.mockRestore()
    }
  })

  test('an order to a transfer has the name of the token', async () => {
    const answer = await post(`/v1/transfers/0001/expedite`, { reason: 'it waits' })
    expect(answer).toEqual({ status: 200, body: { id: ids[0], result: 'asked' } })
    expect(await signals(ids[0]!)).toEqual(['expedite'])
    expect(await post(`/v1/transfers/nothing/retry`, { reason: 'x' })).toMatchObject({ status: 404 })
    const bsc = await setting.token({ chains: ['bsc'], level: 'write' })
    const refused = await post(`/v1/transfers/${encodeURIComponent(back)}/cancel`, { reason: 'x' }, bsc)
    expect(refused).toMatchObject({ status: 403, body: { code: 'ACCESS_SCOPE' } })
    expect(await signals(back)).toEqual([])
  })

  test('an order by a filter is counted first, then given to at most the limit', async () => {
    const order = { reason: 'the node is back', filter: { targetChain: 'bsc', state: ['admitting'] }, limit: 4 }
    const dry = await post('/v1/transfers/retry', order)
    expect(dry).toMatchObject({ status: 200, body: { dryRun: true, matched: 4, more: true } })
    expect(dry.body).not.toHaveProperty('results')
    expect((await Promise.all(ids.map(signals))).flat()).toEqual(['expedite'])

    const bsc = await setting.token({ chains: ['bsc'], level: 'write' })
    const done = await post('/v1/transfers/retry', { ...order, limit: 100, dryRun: false }, bsc)
    const results = done.body['results'] as { id: string; result: string }[]
    expect([done.status, results.map(({ id }) => id).toSorted(), new Set(results.map(({ result }) => result))]).toEqual([
      200,
      ids.toSorted(),
      new Set(['woken']),
    ])
    expect(await Promise.all(ids.slice(1).map(signals))).toEqual([['retry'], ['retry'], ['retry'], ['retry']])
    expect(await signals(back)).toEqual([])

    const both = await post('/v1/transfers/cancel', { reason: 'x', ids: ['0002', '0002', back], dryRun: true }, bsc)
    expect(both).toMatchObject({ status: 403, body: { code: 'ACCESS_SCOPE' } })
    const one = await post('/v1/transfers/cancel', { reason: 'a test', ids: ['0002', ids[1]!], dryRun: false }, bsc)
    expect(one.body).toMatchObject({ matched: 1, results: [{ id: ids[1], result: 'asked' }] })
    for (const body of [{}, { ids: ['0002'], filter: { state: 'parked' } }, { filter: {} }, { filter: { state: 'parked' }, limit: 501 }]) {
      expect(await post('/v1/transfers/cancel', { reason: 'x', ...body })).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID' } })
    }
  })

  test('an idempotency key has one answer; a repetition waits for it, and a refused request frees the key', async () => {
    const { client } = ledgers.temporal
    const claim = (key: string, request: object, waitMs?: number) => claimKey(client, { key: ['night-shift', key], request }, waitMs)
    const body = { status: 202, body: { id: 'x' } }
    const begun = await claim('one', { vaa: 'AQ' })
    await expect(claim('one', { vaa: 'AQ' }, 100)).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_BUSY' })
    await expect(claim('one', { vaa: 'AR' })).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
    const waiting = claim('one', { vaa: 'AQ' }, 30_000)
    if (begun.kind !== 'first') throw new Error(begun.kind)
    await begun.answer({ kind: 'answered', ...body })
    expect(await waiting).toEqual({ kind: 'answered', ...body })
    expect(await claim('one', { vaa: 'AQ' }, 30_000)).toEqual({ kind: 'answered', ...body })
    await expect(claim('one', { vaa: 'AR' })).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
    expect(await claim('two', { vaa: 'AR' })).toMatchObject({ kind: 'first' })

    for (let times = 0; times < 2; times++) {
      const { statusCode, body: refused } = await setting.api.inject({
        ...{ method: 'POST', url: '/v1/transfers', headers: { 'idempotency-key': 'again' } },
        payload: { bridge: 'native-bridge', source: 'ethereum', target: 'bsc', nonce: '1' },
      })
      expect([statusCode, JSON.parse(refused)]).toMatchObject([503, { code: 'NODE_UNAVAILABLE' }])
    }
    const empty = await setting.api.inject({
      method: 'POST',
      url: '/v1/transfers',
      headers: { 'idempotency-key': 'a b' },
      payload: { vaa: 'AQ' },
    })
    expect([empty.statusCode, empty.json()]).toMatchObject([400, { errors: [{ path: 'headers.idempotency-key' }] }])
  })

  test('GET /v1/lanes reads added nodes, too, and shares the read among requests', async () => {
    const asked: string[] = []
    const node = await listenHttp(({ url = '' }, response) => {
      asked.push(url)
      response.writeHead(503).end()
    })
    try {
      const added = { kind: 'setNode', change: { chain: 'bsc', name: 'spare', url: node, disabled: false } }
      expect(await post('/v1/settings', { reason: 'the others are away', orders: [added] })).toMatchObject({ status: 200 })
      // The API learns of the new node late, so repeat the request until it asks the node.
      const look = async () => {
        expect(await get('/v1/lanes')).toMatchObject({ status: 200, body: { lanes: [{ status: 'no ledger yet' }] } })
        return asked.length
      }
      await expect.poll(look).toBeGreaterThan(0)
      const once = asked.length
      await Promise.all(Array.from({ length: 20 }, () => get('/v1/lanes')))
      // The shared answer expires soon, so on a busy machine the node is asked more than once.
      expect(asked.length).toBeLessThan(10 * once)
    } finally {
      await post('/v1/settings', { reason: 'a test', orders: [{ kind: 'clearNode', chain: 'bsc', name: 'spare' }] })
    }
  })

  test('a payment that is requested again with its key is made once', async () => {
    const lane = `evm-1397:0x${'ab'.repeat(20)}`
    const pay = async (value: string, of = lane) => {
      const payload = { to: `0x${'cd'.repeat(20)}`, value, reason: 'a refund' }
      const { statusCode, body } = await setting.api.inject({
        ...{ method: 'POST', url: `/v1/lanes/${of}/send`, headers: { 'idempotency-key': 'refund-118' }, payload },
      })
      return { status: statusCode, body: JSON.parse(body) as { id?: string; code?: string } }
    }
    const first = await pay('1')
    expect(first.status).toBe(202)
    await expect.poll(() => pay('1'), { timeout: 30_000 }).toEqual(first)
    expect(await pay('2')).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
    expect(await pay('1', `evm-1:0x${'ab'.repeat(20)}`)).toMatchObject({ body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
    // A client repeats its request if the process crashed before it stored the answer.
    const intent = { to: `0x${'cd'.repeat(20)}`, value: '1', data: '0x' }
    const again = () =>
      startOperatorTransaction(ledgers.temporal.client, { lane, intent }, { by: 'night-shift', reason: 'a refund' }, 'a key')
    expect(await again()).toBe(await again())
  })

  test('orders are listed with their names and reasons', async () => {
    const orders = [{ kind: 'halt', scope: { chain: 'bsc' } }]
    expect(await post('/v1/settings', { reason: 'a look', orders })).toMatchObject({ status: 200 })
    const audit = await get('/v1/audit?subject=settings&limit=1')
    expect(audit.body).toMatchObject({
      orders: [{ subject: 'settings', kind: 'halt', by: 'night-shift', reason: 'a look' }],
      incomplete: [],
    })
    expect((await get('/v1/audit?by=nobody')).body).toMatchObject({ orders: [] })
  })
})
