import { Connection } from '@temporalio/client'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { createArchiveStore } from '../../../operations/archive/create-store.ts'
import type { ArchiveStore } from '../../../operations/archive/store.ts'
import { archiveTransfers, freshnessOf, readProgress } from '../../../operations/archive/transfers.ts'
import { createTemporalClient } from '../../../temporal/client/connection/connect.ts'
import { createEncryptionCodec } from '../../../temporal/encryption/codec.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

const hour = 3_600_000
const now = Date.parse('2026-11-22T12:02:00Z')
const oldest = now - 72 * hour
const ago = (hours: number) => Date.parse('2026-11-22T12:00:00Z') - hours * hour
const iso = (at: number) => new Date(at).toISOString()

/**
 * A client with one closed run for each of `hours`, which are the hours since the run closed. Inputs and results cannot
 * be read.
 */
function clientWith(hours: readonly number[]) {
  const client = createTemporalClient(Connection.lazy(), 'default', { codec: createEncryptionCodec(undefined) })
  const runs = hours.map((at) => ({
    ...{ workflowId: `transfer-${at}`, runId: `run-${at}`, status: { name: 'TERMINATED' } },
    ...{ startTime: new Date(ago(at + 0.05)), closeTime: new Date(ago(at)) },
  }))
  async function* list({ query }: { readonly query: string }) {
    const [from = '', to = ''] = [.../'(\d{4}-[^']+)'.*'(\d{4}-[^']+)'/.exec(query)!].slice(1)
    yield* runs.filter(({ closeTime }) => from <= closeTime.toISOString() && closeTime.toISOString() < to)
  }
  Object.defineProperty(client.workflow, 'list', { value: list })
  Object.defineProperty(client, 'workflowService', { value: { getWorkflowExecutionHistory: () => Promise.resolve({}) } })
  return client
}

describe('the archive of transfers', () => {
  let dir: string
  let store: ArchiveStore
  const progress = async () => (JSON.parse(await readFile(join(dir, 'transfers', 'progress.json'), 'utf8')) as { through: string }).through
  const archived = async () => {
    const names = (await readdir(dir, { recursive: true })).filter((name) => name.endsWith('.jsonl'))
    const texts = await Promise.all(names.map((name) => readFile(join(dir, name), 'utf8')))
    return texts
      .flatMap((text) =>
        text
          .trim()
          .split('\n')
          .map((line) => (JSON.parse(line) as { runId: string }).runId),
      )
      .toSorted()
  }
  const setProgress = async (at: number) => {
    await mkdir(join(dir, 'transfers'))
    await writeFile(join(dir, 'transfers', 'progress.json'), JSON.stringify({ through: iso(at) }))
  }

  beforeEach(async () => {
    dir = temporaryFolder()
    store = createArchiveStore({ kind: 'directory', path: dir })
  })

  test('after a pass whose clock was ahead, the archive has every run, and does not count as fresh', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now })
    try {
      await setProgress(now + 6 * hour)
      expect(freshnessOf(await readProgress(store), 72, now).state).toBe('losing')
      await archiveTransfers(clientWith([70, 30, 3]), store, { ordersThrough: now, oldest, now })
      expect(await archived()).toEqual(['run-3', 'run-30', 'run-70'])
      expect(await progress()).toBe(iso(ago(0)))
    } finally {
      vi.useRealTimers()
    }
  })

  test('after a pass that began late, the archive goes on where it ended before', async () => {
    await setProgress(ago(10))
    const client = clientWith([0.5, 5, 9])
    const late = await archiveTransfers(client, store, { since: ago(1), ordersThrough: ago(10), oldest, now })
    expect([await archived(), await progress(), late]).toMatchObject([
      ['run-0.5'],
      iso(ago(10)),
      { from: iso(ago(1)), through: iso(ago(10)), leftOut: true, added: 1 },
    ])
    const next = await archiveTransfers(client, store, { ordersThrough: ago(10), oldest, now })
    expect([await archived(), await progress(), next.leftOut]).toEqual([['run-0.5', 'run-5', 'run-9'], iso(ago(0)), undefined])
  })

  test.each([
    'null',
    '5',
    '"x"',
    '[]',
    '{}',
    ...['5', '"abc"', '[null]', '[{"at":5}]'].map((orders) => `{"id":"t","runId":"r","orders":${orders}}`),
  ])('a line that is not a record (%s) is reported as a damaged archive', async (line) => {
    const name = 'transfers/2026/11/22/1130.jsonl'
    await store.put(name, `${line}\n`, undefined)
    const pass = archiveTransfers(clientWith([0.5]), store, { ordersThrough: 0, oldest, now })
    await expect(pass).rejects.toMatchObject({ code: 'ARCHIVE_INVALID', facts: { name } })
  })

  test('an empty archive has no end after a pass that began after every run of Temporal', async () => {
    const client = clientWith([0.5, 5, 71])
    const late = await archiveTransfers(client, store, { since: ago(1), ordersThrough: 0, oldest, now })
    expect([await archived(), late.through, late.leftOut]).toEqual([['run-0.5'], undefined, true])
    await expect(progress()).rejects.toMatchObject({ code: 'ENOENT' })
    await archiveTransfers(client, store, { ordersThrough: 0, oldest, now })
    expect([await archived(), await progress()]).toEqual([['run-0.5', 'run-5', 'run-71'], iso(ago(0))])
  })

  test.each([
    ['begins where the last one ended', ago(10), ago(10)],
    ['begins in the middle of the ten minutes after it', ago(10) + 9 * 60_000, ago(10)],
    ['begins with the oldest that Temporal has', ago(100), undefined],
  ])('a pass that %s leaves nothing out', async (_, since, through) => {
    await setProgress(through ?? ago(100))
    const done = await archiveTransfers(clientWith([]), store, { since: Math.max(since, oldest), ordersThrough: ago(10), oldest, now })
    expect([done.leftOut, done.through, await progress()]).toEqual([undefined, iso(ago(0)), iso(ago(0))])
  })

  test('an archive that fell behind the retention goes on with the runs that Temporal still has', async () => {
    await setProgress(ago(100))
    const done = await archiveTransfers(clientWith([70]), store, { ordersThrough: ago(100), oldest, now })
    expect([done.leftOut, await archived(), await progress()]).toEqual([undefined, ['run-70'], iso(ago(0))])
  })

  test('two passes at the same time with different runs lose none and write none twice', async () => {
    const options = { since: ago(6), ordersThrough: 0, oldest: ago(6), now }
    const [some, others] = [clientWith([0.5, 0.51, 0.52, 5]), clientWith([0.52, 0.53, 0.54, 4.99, 5])]
    let other: Promise<unknown> | undefined
    /** A store that runs a whole second pass after the first pass has read a text, but before it writes the text. */
    const overtaken: ArchiveStore = {
      get: (name) => store.get(name),
      async put(...args) {
        if (args[0].endsWith('.jsonl')) await (other ??= archiveTransfers(others, store, options))
        return store.put(...args)
      },
    }
    await archiveTransfers(some, overtaken, options)
    expect(other).toBeDefined()
    expect(await archived()).toEqual([0.5, 0.51, 0.52, 0.53, 0.54, 4.99, 5].map((at) => `run-${at}`))
  })
})
