import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readFixture, type RecordedHistory, recordedNames, recordedReleases } from '../replay/fixtures.ts'
import { patchesOf, patchesWithoutHistories, type ReleasedHistory } from '../replay/patches.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const source = ['workflows', 'domain', 'temporal']
  .flatMap((room) => readdirSync(`${root}/${room}`, { recursive: true, encoding: 'utf8' }).map((file) => `${room}/${file}`))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(`${root}/${file}`, 'utf8'))
  .join('\n')

test('every patched id of the workflows is a text with recorded histories from before and after the change', async () => {
  const calls = [...source.matchAll(/\b(?:patched|deprecatePatch)\(([^()]*)\)/g)].map(([, argument = '']) => argument.trim())
  const ids = calls.map((argument) => /^'([^']+)'$/.exec(argument)?.[1] ?? `no text: ${argument}`)
  const histories: ReleasedHistory[] = []
  for (const release of recordedReleases())
    for (const name of recordedNames(release)) histories.push({ release, name, history: await readFixture(release, name) })
  expect(histories.length).toBeGreaterThan(20)
  expect(patchesWithoutHistories(ids, histories)).toEqual([])
  // A history may contain no patch that is no longer in the code, because its replay would fail.
  expect(new Set(histories.flatMap(({ history }) => patchesOf(history)))).toEqual(new Set(ids))
})

const history = (...ids: string[]): RecordedHistory => ({
  events: ids.map((id, index) => ({
    eventId: String(index),
    eventType: 'EVENT_TYPE_MARKER_RECORDED',
    markerRecordedEventAttributes: {
      markerName: 'core_patch',
      details: { 'patch-data': { payloads: [{ data: Buffer.from(JSON.stringify({ id })).toString('base64') }] } },
    },
  })),
})
const old: ReleasedHistory = { release: '1.0.0', name: 'declined', history: history() }
const marked: ReleasedHistory = { release: '1.1.0', name: 'declined', history: history('a-change') }

test.each<[string, readonly ReleasedHistory[], readonly string[]]>([
  ['is accepted with a history of an earlier release and one with its marker', [old, marked], []],
  ['is refused without any history', [], ['a-change']],
  ['is refused without a history before the change', [marked], ['a-change']],
  ['is refused without a history after the change', [old], ['a-change']],
  ['is refused where the history before the change is another run', [{ ...old, name: 'stream-first-run' }, marked], ['a-change']],
  ['is refused where the history without the marker is the newer one', [{ ...marked, release: '0.9.0' }, old], ['a-change']],
])('a patch %s', (_, histories, refused) => {
  expect(patchesWithoutHistories(['a-change'], histories)).toEqual(refused)
})
