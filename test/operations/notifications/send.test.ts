import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Notification, Receiver } from '../../../domain/notification/notification.ts'
import { bodyOf, checkedSecret, sendNotification, signedHeaders } from '../../../operations/notifications/send.ts'
import { answering, secretSource, startReceiver, type TestReceiver, testSecrets } from './receiver.ts'
import { freePort } from '../../../lab/devnet/ports.ts'
import { listenHttp } from '../../helpers/servers.ts'

const notification: Notification = {
  id: 'evt_1',
  type: 'lane.paused',
  at: Date.UTC(2026, 10, 22, 12),
  data: { lane: 'evm-1:0xaa', reason: 'ünïcode' },
}

describe('A notification', () => {
  let receiver: TestReceiver
  const to = (url: string, ...secrets: string[]): Receiver => ({
    name: 'pager',
    url,
    secrets: (secrets.length > 0 ? secrets : [testSecrets.first]).map(secretSource),
    filter: { events: ['lane.paused'] },
  })

  beforeEach(async () => {
    receiver = await startReceiver()
  })

  test('a receiver that verifies with the package of the specification takes a notification', async () => {
    expect(await sendNotification(to(receiver.url), notification)).toEqual({ kind: 'taken' })
    expect(receiver.forged).toEqual([])
    const [one] = receiver.received
    expect(one).toMatchObject({ id: 'evt_1', type: 'lane.paused', timestamp: '2026-11-22T12:00:00.000Z', data: notification.data })
    expect(one?.headers).toMatchObject({ 'webhook-id': 'evt_1', 'content-type': 'application/json; charset=utf-8' })
    expect(Number.isSafeInteger(one?.sequence)).toBe(true)
  })

  test("the signatures equal those of Node's own HMAC, one for each secret", () => {
    const body = bodyOf(notification)
    const now = new Date(1_795_000_000_500)
    const headers = signedHeaders(to('', testSecrets.first, testSecrets.second), 'evt_1', body, now)
    const signed = (byte: number) =>
      `v1,${createHmac('sha256', Buffer.alloc(32, byte)).update(`evt_1.1795000000.${body}`).digest('base64')}`
    expect(headers).toEqual({
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1795000000',
      'webhook-signature': `${signed(1)} ${signed(2)}`,
    })
  })

  test('receivers with the old or the new secret take a notification, and one with neither does not', async () => {
    const old = receiver
    const next = await startReceiver(testSecrets.second)
    const stranger = await startReceiver(`whsec_${Buffer.alloc(24, 9).toString('base64')}`)
    const both = [testSecrets.first, testSecrets.second]
    expect(await sendNotification(to(old.url, ...both), notification)).toEqual({ kind: 'taken' })
    expect(await sendNotification(to(next.url, ...both), notification)).toEqual({ kind: 'taken' })
    expect(await sendNotification(to(stranger.url, ...both), notification)).toEqual({ kind: 'refused', why: 'HTTP 401' })
    expect(stranger.received).toEqual([])
  })

  test.each([
    [204, {}, { kind: 'taken' }],
    [410, {}, { kind: 'gone', why: 'it wants no more notifications (410)' }],
    [404, {}, { kind: 'refused', why: 'HTTP 404' }],
    [503, { 'retry-after': '120' }, { kind: 'failed', why: 'HTTP 503', retryAfterMs: 120_000 }],
    [429, {}, { kind: 'failed', why: 'HTTP 429' }],
    [500, {}, { kind: 'failed', why: 'HTTP 500' }],
  ] as const)('a notification that is answered with %i has its own result', async (status, headers, expected) => {
    receiver.answer = answering(status, headers)
    expect(await sendNotification(to(receiver.url), notification)).toEqual(expected)
  })

  test('a notification follows no redirect, to metadata addresses of clouds or to another server', async () => {
    let asked = 0
    const other = await listenHttp((_, response) => {
      asked += 1
      response.writeHead(200).end('credentials')
    })
    for (const location of ['http://169.254.169.254/latest/meta-data/', `${other}/`]) {
      for (const status of [301, 302, 303, 307, 308]) {
        receiver.answer = answering(status, { location })
        const why = `a redirect (${status}), which is not followed`
        expect(await sendNotification(to(receiver.url), notification)).toEqual({ kind: 'refused', why })
      }
    }
    expect(asked).toBe(0)
  })

  test('a notification is taken although the answer is huge, and the answer is not read to its end', async () => {
    let [written, closed] = [0, false]
    receiver.answer = (_, response) => {
      response.on('close', () => (closed = true))
      const chunk = Buffer.alloc(64 * 1024, 'x')
      const more = () => {
        while (!response.destroyed && written < 200 * 1024 * 1024) {
          written += chunk.length
          if (!response.write(chunk)) return void response.once('drain', more)
        }
        response.end()
      }
      response.writeHead(200)
      more()
    }
    expect(await sendNotification(to(receiver.url), notification)).toEqual({ kind: 'taken' })
    await expect.poll(() => closed).toBe(true)
    expect(written).toBeLessThan(100 * 1024 * 1024)
  })

  test('a notification does not wait for a receiver that answers byte by byte', async () => {
    receiver.answer = (_, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(timer))
    }
    expect(await sendNotification(to(receiver.url), notification, { timeoutMs: 200 })).toEqual({ kind: 'failed', why: 'no answer in time' })
  })

  test('a failed notification quotes neither URL nor secret: no connection, malformed secret', async () => {
    const unheard = await sendNotification(to(`http://127.0.0.1:${await freePort()}/hooks`), notification)
    expect(unheard).toEqual({ kind: 'failed', why: 'no connection' })
    for (const bad of ['hunter2', 'whsec_c2hvcnQ=', `whsec_${Buffer.alloc(65).toString('base64')}`, '']) {
      const answer = await sendNotification(to(receiver.url, bad), notification)
      expect(answer).toEqual({ kind: 'failed', why: 'its secret cannot be read, or is malformed' })
    }
    expect(receiver.received).toEqual([])
    expect(() => checkedSecret('whsec_hunter2')).toThrow(/^must be whsec_ and 24 to 64 bytes in base64$/)
  })
})
