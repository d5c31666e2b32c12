import { expect, test } from 'vitest'
import { render } from '../../../cli/output/layout.ts'
import { listText } from '../../../cli/output/stream-text.ts'
import { initialStream, viewStream } from '../../../domain/stream/reducer.ts'
import { streamReportSchema } from '../../../intake/streams/report-schema.ts'
import { listStreams, toReport } from '../../../intake/streams/reports.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'

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

const honest = initialStream({ stream: 'native-bridge:ethereum:bsc', origin: '1/0xaa', first: '1', maxOpen: 50 })

test.each<[string, object]>([
  ['a time of another type', { updatedAt: 'x' }],
  ['a time that no date can represent', { updatedAt: -1e300 }],
  ['a height of another type', { cursor: { height: 'x', hash: 'x' } }],
  ['no height', { cursor: { hash: 'x' } }],
  ['a pause of another type', { paused: 'x' }],
  ['an author of a pause that is no text', { paused: { by: { toString: 1 }, reason: 'x', at: 5 } }],
  ['an infinite height', { cursor: { height: Infinity, hash: 'x' } }],
])('a stream that answers with %s is listed with a problem, and hides no other stream', async (_, forged) => {
  const own = 'native-bridge:ethereum:bsc'
  const client = {
    streamNames: { all: [own], idOf: (text: string) => text, nameOf: (text: string) => text },
    withDeadline: <Answer>(_: number, work: () => Promise<Answer>) => work(),
    workflow: {
      async *list() {
        for (const stream of [own, 'native-bridge:forged:bsc']) yield { workflowId: `stream:${stream}` }
      },
      getHandle: (id: string) => ({ query: async () => (id.endsWith(own) ? honest : { ...honest, ...forged }) }),
    },
  } as unknown as TemporalClient
  const rows = await listStreams(client, () => undefined, auditMinutes)
  expect(rows).toMatchObject([
    { stream: own, open: 0 },
    { stream: 'native-bridge:forged:bsc', problem: expect.any(String) },
  ])
  expect(rows.every((row) => streamReportSchema.safeParse(row).success)).toBe(true)
  expect(render(listText(rows), 80)).toContain('ethereum')
})
