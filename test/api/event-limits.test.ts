import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { PassThrough } from 'node:stream'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { beforeEach, describe, expect, test } from 'vitest'
import { keyFile, removeKey, rotateKeys } from '../../operations/access/keys.ts'
import { EventFeed, type FeedEvent } from '../../api/events/feed.ts'
import { openListener } from '../../api/routes/events.ts'
import type { Config } from '../../config/schema/schema.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { bearer } from '../../lab/devnet/access.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { silentLogger } from '../../observability/logger.ts'
import { deadConfig, openApi, type OpenApi } from './setting.ts'
import { cleanUp } from '../helpers/clean-up.ts'
import { listen } from '../helpers/servers.ts'

describe('the listeners of the events', () => {
  let config: Config
  let setting: OpenApi
  let url = ''
  // An API counts a listener for a while after it has left, so each test has its own API.
  beforeEach(async () => {
    config = deadConfig(await freePort())
    setting = await openApi(config, silentLogger(), { heartbeatMs: 20 })
    cleanUp(() => setting.close())
    const port = await freePort()
    await setting.bare.listen({ host: '127.0.0.1', port })
    url = `http://127.0.0.1:${port}/v1/events`
  })

  const listen = async (token: string) => {
    const abort = new AbortController()
    cleanUp(() => abort.abort())
    const response = await fetch(url, { headers: bearer(token), signal: abort.signal })
    return { response, leave: () => abort.abort() }
  }
  const lastEvent = async ({ response }: { readonly response: Response }) => (await response.text()).trim().split('\n\n').at(-1)

  test('a listener with a revoked token ends at the next heartbeat, and other listeners continue', async () => {
    const [token, other] = [await setting.token({ level: 'read' }), await setting.token({ level: 'read', name: 'other' })]
    const [revoked, stays] = [await listen(token), await listen(other)]
    expect([revoked.response.status, stays.response.status]).toEqual([200, 200])
    setting.settings.now = {
      ...noSettings,
      tokens: [{ jti: decodeJwt(token).jti!, revoked: { by: 'dora', reason: 'a test', at: 1 } }],
    }
    expect(await lastEvent(revoked)).toBe('event: end\ndata: {"reason":"ACCESS_TOKEN_REVOKED"}')
    const reader = stays.response.body!.getReader()
    for (let heard = 0; heard < 3; heard++) expect((await reader.read()).done).toBe(false)
    expect((await listen(token)).response.status).toBe(401)
  })

  test('a listener whose key was removed ends before its token expires', async () => {
    const token = await setting.token({ level: 'read' })
    const listener = await listen(token)
    expect(listener.response.status).toBe(200)
    await rotateKeys(keyFile(config))
    await removeKey(keyFile(config), decodeProtectedHeader(token).kid!)
    expect(await lastEvent(listener)).toBe('event: end\ndata: {"reason":"ACCESS_TOKEN_INVALID"}')
    expect((await listen(token)).response.status).toBe(401)
  })

  test('there are at most 64 listeners; one that leaves frees its place', async () => {
    const tokens = await Promise.all(Array.from({ length: 9 }, (_, index) => setting.token({ level: 'read', name: `crowd-${index}` })))
    const crowd = await Promise.all(tokens.slice(0, 8).flatMap((token) => Array.from({ length: 8 }, () => listen(token))))
    expect(new Set(crowd.map(({ response }) => response.status))).toEqual(new Set([200]))
    const late = await listen(tokens[8]!)
    expect([late.response.status, await late.response.json()]).toMatchObject([
      503,
      { code: 'EVENTS_FULL', facts: { listeners: 64, ofName: 0 } },
    ])
    crowd[0]!.leave()
    await expect.poll(async () => (await listen(tokens[8]!)).response.status, { timeout: 20_000 }).toBe(200)
  })
})

test('a closing API stops the audit of a stream even while a poll of the events waits for Temporal', async () => {
  let audit: 'none' | 'runs' | 'stopped' = 'none'
  const auditStream = (_: string, signal: AbortSignal): Promise<never> => {
    audit = 'runs'
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        audit = 'stopped'
        reject(new Error('stopped'))
      })
    })
  }
  const setting = await openApi(deadConfig(await freePort()), silentLogger(), { auditStream })
  let polls = 0
  let endPoll = () => {}
  const poll = new Promise<readonly never[]>((resolve) => (endPoll = () => resolve([])))
  const list = async function* () {
    polls++
    yield* await poll
  }
  Object.assign(setting.client.workflow, { list, getHandle: () => ({ query: async () => ({ config: {} }) }) })
  const events = setting.api.inject('/v1/events')
  await expect.poll(() => polls).toBeGreaterThan(0)
  const audited = setting.api.inject({ method: 'POST', url: '/v1/streams/native-bridge:ethereum:bsc/audit' })
  await expect.poll(() => audit).toBe('runs')
  const closing = setting.close()
  await expect.poll(() => audit).toBe('stopped')
  endPoll()
  await Promise.all([closing, events, audited])
})

test('a listener that does not read is disconnected after 1 MB on either side', async () => {
  const mostBuffered = 1_000_000
  // The text consists of letters of three bytes, because the limit counts bytes, not characters.
  const big = { type: 'transfer', data: { text: '€'.repeat(20_000) } }
  const feed = new EventFeed(async () => [big], { everyMs: 1, most: 5, lingerMs: 0 })
  cleanUp(() => feed.close())
  const listeners: PassThrough[] = []
  const address = await listen(
    createServer((_, response) => {
      const listener = openListener(feed, { expiresAt: Date.now() + 60_000, heartbeatMs: 60_000, assertStillGood: async () => {} })
      listeners.push(listener)
      listener.pipe(response)
    }),
  )
  const socket = connect(Number(new URL(`http://${address}`).port), '127.0.0.1', () => {
    socket.pause()
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  })
  cleanUp(() => socket.destroy())
  await expect.poll(() => listeners.length, { timeout: 20_000 }).toBe(1)
  const kept = () => listeners[0]!.readableLength + listeners[0]!.writableLength
  let most = 0
  const events: FeedEvent[] = []
  const leave = feed.subscribe(
    (event) => {
      most = Math.max(most, kept())
      events.push(event)
    },
    () => {},
  )
  await expect.poll(() => listeners[0]!.destroyed, { timeout: 60_000 }).toBe(true)
  await expect.poll(() => feed.listeners).toBe(1)
  const before = events.length
  await expect.poll(() => events.length, { timeout: 20_000 }).toBeGreaterThan(before)
  leave()
  expect(most).toBeGreaterThan(mostBuffered)
  expect(most).toBeLessThan(2 * mostBuffered + 100_000)
})
