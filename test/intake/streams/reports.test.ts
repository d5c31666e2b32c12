import { expect, test } from 'vitest'
import { initialStream, viewStream } from '../../../domain/stream/reducer.ts'
import { toReport } from '../../../intake/streams/reports.ts'

const auditMinutes = 5

function reportOf(stream: string, updatedAt: number) {
  const view = { ...viewStream(initialStream({ stream, origin: '2/00', first: '0', maxOpen: 10 })), updatedAt }
  return toReport(view, () => undefined, auditMinutes)
}

test('a stream without a report for two audits is shown as silent from the time of its last report', () => {
  const [fresh, old] = [Date.now() - 10 * 60_000, Date.now() - 11 * 60_000]
  expect(reportOf('wormhole-token-bridge:ethereum:00', fresh).silentSince).toBeUndefined()
  expect(reportOf('wormhole-token-bridge:ethereum:00', old).silentSince).toBe(new Date(old).toISOString())
})

test('a stream without a node of its source is never silent: its audits have nothing to record', () => {
  expect(reportOf('wormhole-token-bridge:wormhole-34:00', 0).silentSince).toBeUndefined()
})
