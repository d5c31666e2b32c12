import { writeFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { checkReceivers } from '../../cli/doctor/receivers.ts'
import { configSchema } from '../../config/schema/schema.ts'
import { answering, startReceiver, type TestReceiver, testSecrets } from '../operations/notifications/receiver.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { temporaryFolder } from '../helpers/folders.ts'

/** Nothing listens at this address, so the doctor does not ask notifiers. */
const temporal = { address: '127.0.0.1:9', namespace: 'none' }
const dir = temporaryFolder()
let receiver: TestReceiver
const secret = () => join(dir, 'secret')

beforeEach(async () => {
  receiver = await startReceiver()
  await writeFile(secret(), `${testSecrets.first}\n`, { mode: 0o600 })
})

async function checks({ url = receiver.url, secrets = [{ secretFile: secret() }] as object[], sendTest = false, env = {} } = {}) {
  const notifications = [{ name: 'books', url, secrets, events: ['transfer.delivered'] }]
  const config = configSchema.parse({ chains: {}, bridges: {}, notifications })
  const found = await checkReceivers(config, temporal, { env, sendTest })
  for (const { area, detail, remedy = '' } of found) {
    expect(area).toBe('receiver books')
    expect(`${detail} ${remedy}`).not.toMatch(/doctor|path-secret|AQEB/)
  }
  return Object.fromEntries(found.map(({ name, ...rest }) => [name.split(' ')[0], rest]))
}

test("without --send-test the doctor sends nothing, and checks a receiver's host and secret", async () => {
  expect(await checks()).toMatchObject({
    url: { status: 'ok', detail: expect.stringContaining('can be reached') },
    secret: { status: 'ok' },
  })
  expect([receiver.received, receiver.forged]).toEqual([[], []])
})

test('with --send-test the doctor sends the receiver one signed notification.test', async () => {
  expect(await checks({ sendTest: true })).toMatchObject({ test: { status: 'ok', detail: expect.stringMatching(/^has accepted test_/) } })
  expect(receiver.received.map(({ type, data }) => [type, data['by']])).toEqual([['notification.test', 'portage doctor']])
})

test("a receiver's malformed secret fails; a missing one is a warning and prevents the test", async () => {
  await writeFile(secret(), 'whsec_short')
  expect(await checks({ sendTest: true })).toMatchObject({
    secret: { status: 'fail', detail: expect.stringContaining('24 to 64 bytes'), remedy: expect.stringContaining('openssl') },
    test: { status: 'warn', remedy: 'portage notifications test books' },
  })
  await rm(secret())
  expect(await checks()).toMatchObject({ secret: { status: 'warn', detail: 'is not on this machine' } })
  const secrets = [{ secretVariable: 'BOOKS_SECRET' }]
  expect(await checks({ secrets })).toMatchObject({ secret: { status: 'warn', remedy: expect.stringContaining('BOOKS_SECRET') } })
  expect(await checks({ secrets, env: { BOOKS_SECRET: testSecrets.first } })).toMatchObject({ secret: { status: 'ok' } })
  expect(receiver.received).toEqual([])
})

test("a receiver's secret that cannot be read fails", async () => {
  const found = await checks({ secrets: [{ secretFile: dir }] })
  expect(found).toMatchObject({ secret: { status: 'fail', detail: 'cannot be read: EISDIR', remedy: expect.stringContaining('can read') } })
})

test.each<[string, () => void, string, string]>([
  ['another secret', () => writeFileSync(secret(), testSecrets.second), 'HTTP 401', 'the secret that signs'],
  ['410', () => void (receiver.answer = answering(410)), '410', 'remove it from the config'],
  [
    'a redirect',
    () => void (receiver.answer = answering(302, { location: 'http://127.0.0.1:1/' })),
    'redirect',
    'the target of the redirect',
  ],
  ['a wrong path', () => void (receiver.answer = answering(404)), 'HTTP 404', 'Correct the path'],
  ['an error', () => void (receiver.answer = answering(503)), 'HTTP 503', 'in its log'],
])('a test that is answered by %s fails with a remedy', async (_, spoil, detail, remedy) => {
  spoil()
  expect(await checks({ sendTest: true })).toMatchObject({
    url: { status: 'ok' },
    test: { status: 'fail', detail: expect.stringContaining(detail), remedy: expect.stringContaining(remedy) },
  })
})

test("a receiver's unreachable host fails: unknown name, closed port, no TLS", async () => {
  const port = await freePort()
  const url = async (text: string) => (await checks({ url: text }))['url']
  expect(await url(`http://127.0.0.1:${port}/path-secret`)).toMatchObject({
    status: 'fail',
    detail: expect.stringContaining('ECONNREFUSED'),
  })
  expect(await url('https://books.invalid/path-secret')).toMatchObject({
    status: 'fail',
    remedy: expect.stringContaining('host in its url'),
  })
  const plain = receiver.url.replace('http:', 'https:')
  expect(await url(plain)).toMatchObject({ status: 'fail', remedy: expect.stringContaining('certificate') })
})
