import type { Client } from '@temporalio/client'
import { expect, test, vi } from 'vitest'
import { noSettings, type Settings } from '../../domain/settings/settings.ts'
import { silentLogger } from '../../observability/logger.ts'
import { watchSettings } from '../../temporal/client/settings/settings-watch.ts'
import { fakeTime } from '../helpers/fake-time.ts'

fakeTime(Date.parse('2026-11-21T12:00:00Z'))

const halt = { scope: {}, by: 'night-shift', reason: 'a test', at: 5 }

test('after a restore of Temporal, a process learns new settings with a version number that it knows', async () => {
  let answer: Settings = { ...noSettings, version: 10 }
  const client = {
    withDeadline: (_: number, work: () => unknown) => work(),
    workflow: { getHandle: () => ({ query: async () => structuredClone(answer) }) },
  } as unknown as Client
  const warned: unknown[] = []
  const logger = { ...silentLogger(), warn: (_: string, fields?: object) => warned.push(fields) }
  const watch = await watchSettings({ client, logger })
  const seen: number[] = []
  watch.subscribe(({ halts }) => seen.push(halts.length))
  answer = { ...answer, audit: [{ version: 10, by: 'me', reason: 'the same', at: 1, order: { kind: 'unhalt', scope: {} } }] }
  await vi.advanceTimersByTimeAsync(2_500)
  expect([seen, warned]).toEqual([[0], []])
  answer = { ...answer, halts: [halt] }
  await vi.advanceTimersByTimeAsync(2_500)
  expect(watch.current().halts).toEqual([halt])
  expect([seen, warned]).toEqual([[0, 1], [expect.objectContaining({ code: 'SETTINGS_OLDER', had: 10, version: 10 })]])
  await watch.stop()
})

test.each<[string, object]>([
  ['an audit that is no list', { audit: null }],
  ['an entry of the audit without a time', { audit: [{ version: 3, by: 'me', reason: 'x', order: { kind: 'unhalt' } }] }],
  ['a halt without a scope', { halts: [{ by: 'me', reason: 'x', at: 1 }] }],
  ['a denied party that is no text', { denied: [{ by: 'me', reason: 'x', at: 1, kind: 'token', value: 5 }] }],
  ['tokens that are null', { tokens: [null] }],
])('a process keeps its settings while the answer has %s, and obeys later orders', async (_, malformed) => {
  let answer: object = { ...noSettings, version: 2, halts: [halt] }
  const client = {
    withDeadline: (_ms: number, work: () => unknown) => work(),
    workflow: { getHandle: () => ({ query: async () => structuredClone(answer) }) },
  } as unknown as Client
  const watch = await watchSettings({ client, logger: silentLogger() })
  answer = { ...noSettings, version: 100, ...malformed }
  await vi.advanceTimersByTimeAsync(5_000)
  expect(watch.current()).toMatchObject({ version: 2, halts: [halt] })
  answer = { ...noSettings, version: 3, halts: [halt, { ...halt, scope: { chain: 'bsc' } }] }
  await vi.advanceTimersByTimeAsync(5_000)
  expect(watch.current().version).toBe(3)
  await watch.stop()
})
