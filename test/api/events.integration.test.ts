import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bearer } from '../../lab/devnet/access.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { startTransfer } from '../../temporal/client/transfers/start-transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { type Ledgers, startLedgers } from '../lanes/setting.ts'
import { deadConfig, openApi, type OpenApi } from './setting.ts'

const transferOf = (sequence: string) => ({
  ...{ bridge: 'wormhole-token-bridge', sourceChain: 'ethereum', sourceId: '2', targetChain: 'bsc', emitter: 'e'.repeat(64), sequence },
  ...{ digest: `0x${sequence.padStart(64, '0')}`, message: 'AQ==' },
})

interface Event {
  readonly id?: string
  readonly type: string
  readonly data: Readonly<Record<string, string | undefined>>
}

async function listen(url: string, headers: Record<string, string>) {
  const closing = new AbortController()
  const response = await fetch(url, { headers, signal: closing.signal })
  const events: Event[] = []
  let text = ''
  const reading = (async () => {
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      text += part
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const lines = Object.fromEntries(
          text
            .slice(0, end)
            .split('\n')
            .map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]),
        )
        text = text.slice(end + 2)
        if (lines['event'] !== undefined)
          events.push({ ...(lines['id'] && { id: lines['id'] }), type: lines['event'], data: JSON.parse(lines['data']!) as Event['data'] })
      }
    }
    return 'ended' as const
  })().catch(() => 'closed' as const)
  return { response, events, reading, close: () => closing.abort() }
}

describe('GET /v1/events', () => {
  let ledgers: Ledgers
  let setting: OpenApi
  let url = ''
  beforeAll(async () => {
    ledgers = await startLedgers()
    const config = deadConfig(1)
    setting = await openApi({ ...config, temporal: { ...config.temporal, address: ledgers.server.address } })
    const port = await freePort()
    await setting.bare.listen({ host: '127.0.0.1', port })
    url = `http://127.0.0.1:${port}/v1/events`
  })
  afterAll(async () => {
    await setting?.close()
    await ledgers?.stop()
  })

  test('GET /v1/events reports changes of transfers, and continues after a lost connection', async () => {
    const { client } = ledgers.temporal
    const headers = bearer(await setting.token({ level: 'read' }))
    const first = await listen(url, headers)
    expect([first.response.status, first.response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    const isReady = (what: string) => first.events.some(({ type, data }) => type === 'ready' && data['what'] === what)
    await expect.poll(() => isReady('transfers'), { timeout: 20_000 }).toBe(true)
    const id = transferId(transferOf('1'))
    await startTransfer(client, id, { transfer: transferOf('1') })
    const ofTransfer = (events: readonly Event[]) =>
      events.filter(({ type }) => type === 'transfer').map(({ data }) => [data['id'], data['execution']])
    await expect.poll(() => ofTransfer(first.events), { timeout: 30_000 }).toEqual([[id, 'RUNNING']])
    // The first reading of the causes is reported only as `ready`. A halt adds a cause after it.
    await expect.poll(() => isReady('causes'), { timeout: 60_000 }).toBe(true)
    const halt = { reason: 'a look', orders: [{ kind: 'halt', scope: { chain: 'bsc' } }] }
    expect((await setting.api.inject({ method: 'POST', url: '/v1/settings', payload: halt })).statusCode).toBe(200)
    const causes = () => first.events.flatMap(({ type, data }) => (type === 'cause' ? [data['code']] : []))
    await expect.poll(causes, { timeout: 60_000 }).toContain('HALTED')
    first.close()

    await client.workflow.getHandle(id).terminate('a test')
    const again = await listen(url, { ...headers, 'last-event-id': first.events.at(-1)!.id! })
    await expect.poll(() => ofTransfer(again.events), { timeout: 30_000 }).toEqual([[id, 'TERMINATED']])
    const elsewhere = await listen(url, { ...headers, 'last-event-id': 'of-another-process-1' })
    await expect.poll(() => elsewhere.events.slice(0, 2).map(({ type }) => type), { timeout: 20_000 }).toEqual(['reset', 'ready'])
    again.close()
    elsewhere.close()
  })

  test('GET /v1/events needs a valid token, and ends with it', async () => {
    expect((await fetch(url)).status).toBe(401)
    const begin = async () => listen(url, bearer(await setting.token({ level: 'read', expiresAt: Date.now() + 3_000 })))
    let short = await begin()
    // On a busy machine the token may expire before the request, so try again.
    for (let tries = 1; short.response.status === 401 && tries < 10; tries++) short = await begin()
    expect(short.response.status).toBe(200)
    expect(await short.reading).toBe('ended')
    expect(short.events.at(-1)).toMatchObject({ type: 'end', data: { reason: 'ACCESS_TOKEN_EXPIRED' } })
  })

  test('GET /v1/events limits the listeners of one name; one that leaves frees its place', async () => {
    setting.settings.now = noSettings
    const headers = bearer(await setting.token({ level: 'read', name: 'crowd' }))
    const crowd = await Promise.all(Array.from({ length: 8 }, () => listen(url, headers)))
    expect(crowd.map(({ response }) => response.status)).toEqual(Array.from({ length: 8 }, () => 200))
    const refused = await fetch(url, { headers })
    expect([refused.status, refused.headers.get('content-type'), await refused.json()]).toMatchObject([
      503,
      'application/problem+json; charset=utf-8',
      { code: 'EVENTS_FULL', facts: { ofName: 8 } },
    ])
    crowd[0]!.close()
    await expect
      .poll(async () => {
        const next = await listen(url, headers)
        next.close()
        return next.response.status
      })
      .toBe(200)
    for (const one of crowd) one.close()
  })
})
