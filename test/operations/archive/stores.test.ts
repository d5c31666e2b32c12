import { readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createArchiveStore } from '../../../operations/archive/create-store.ts'
import { type ArchiveStore, linesOf, updateText } from '../../../operations/archive/store.ts'
import { s3Credentials, startS3 } from '../../helpers/s3-server.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

const text = '{"id":"a:ü","n":"1"}\n'
const append = (store: ArchiveStore, name: string, line: string) =>
  updateText(store, name, (was) => `${[...linesOf(was), line].join('\n')}\n`)

async function expectNoLostUpdate(store: ArchiveStore) {
  expect(await store.put('a/b.jsonl', 'old', undefined)).toBe(true)
  const old = await store.get('a/b.jsonl')
  expect(await store.put('a/b.jsonl', text, old)).toBe(true)
  expect(await store.put('a/b.jsonl', 'of one who read before', old)).toBe(false)
  expect(await store.put('a/b.jsonl', 'of one who found none', undefined)).toBe(false)
  expect(await store.put('a/none.jsonl', 'of one who saw it removed', old)).toBe(false)
  expect([(await store.get('a/b.jsonl'))?.text, await store.get('a/none.jsonl')]).toEqual([text, undefined])
  const lines = ['1', '2', '3', '4']
  await Promise.all(lines.map((line) => append(store, 'a/lines.jsonl', line)))
  expect(linesOf((await store.get('a/lines.jsonl'))?.text).toSorted()).toEqual(lines)
}

describe('an archive in a folder', () => {
  test('a folder has the last text, readable only for its user, and no text that was never written', async () => {
    const dir = temporaryFolder()
    const store = createArchiveStore({ kind: 'directory', path: join(dir, 'kept') })
    expect(await store.get('a/b.jsonl')).toBeUndefined()
    await store.put('a/b.jsonl', 'old', undefined)
    await store.put('a/b.jsonl', text, await store.get('a/b.jsonl'))
    expect((await store.get('a/b.jsonl'))?.text).toBe(text)
    expect(await readdir(join(dir, 'kept', 'a'))).toEqual(['b.jsonl'])
    const modes = await Promise.all(
      ['', 'a', 'a/b.jsonl'].map(async (path) => ((await stat(join(dir, 'kept', path))).mode & 0o777).toString(8)),
    )
    expect(modes).toEqual(['700', '700', '600'])
    // The path of the store is a file, not a folder.
    const blocked = createArchiveStore({ kind: 'directory', path: join(dir, 'kept', 'a', 'b.jsonl') })
    await expect(blocked.put('c.jsonl', text, undefined)).rejects.toMatchObject({ code: 'ARCHIVE_UNAVAILABLE' })
    await expect(blocked.get('c.jsonl')).rejects.toMatchObject({ code: 'ARCHIVE_UNAVAILABLE' })
  })

  test('two writers to a folder overwrite nothing, and the old lock of a crash is removed', async () => {
    const dir = temporaryFolder()
    const store = createArchiveStore({ kind: 'directory', path: dir })
    await expectNoLostUpdate(store)
    const lock = join(dir, 'a', 'b.jsonl.lock')
    await writeFile(lock, 'of another process')
    expect(await store.put('a/b.jsonl', 'new', await store.get('a/b.jsonl'))).toBe(false)
    const before = new Date(Date.now() - 61_000)
    await utimes(lock, before, before)
    await append(store, 'a/b.jsonl', 'new')
    expect((await store.get('a/b.jsonl'))?.text).toBe(`${text}new\n`)
    expect((await readdir(join(dir, 'a'))).toSorted()).toEqual(['b.jsonl', 'lines.jsonl'])
  })
})

describe('an archive in a bucket', () => {
  const region = 'eu-central-1'
  let s3: Awaited<ReturnType<typeof startS3>>
  const store = (given: { readonly bucket?: string; readonly region?: string } = {}) =>
    createArchiveStore({ kind: 's3', bucket: 'kept', region, endpoint: s3.url, prefix: 'main net/', ...given })

  beforeEach(async () => {
    s3 = await startS3('kept', region)
    for (const [name, value] of Object.entries(s3Credentials)) vi.stubEnv(name, value)
  })
  afterEach(() => void vi.unstubAllEnvs())

  test('a bucket has the last text, and every request is signed with the hash of its body', async () => {
    expect(await store().get('a/b.jsonl')).toBeUndefined()
    await store().put('a/b.jsonl', 'old', undefined)
    await store().put('a/b.jsonl', text, await store().get('a/b.jsonl'))
    expect((await store().get('a/b.jsonl'))?.text).toBe(text)
    expect([...s3.objects]).toEqual([['main net/a/b.jsonl', text]])
  })

  test.each([
    ['a wrong secret', () => vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'wrong'), {}, 'SignatureDoesNotMatch'],
    ['an unknown key', () => vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAOTHER'), {}, 'InvalidAccessKeyId'],
    ['another region', () => {}, { region: 'us-east-1' }, 'AuthorizationHeaderMalformed'],
    ['a bucket that is not there', () => {}, { bucket: 'other' }, ''],
  ])('%s is said at once, and is not taken for an empty archive', async (_, set, given, code) => {
    set()
    const refused = { code: 'ARCHIVE_UNAVAILABLE', message: expect.stringContaining(code) as string }
    await expect(store(given).get('a.jsonl')).rejects.toMatchObject(refused)
    await expect(store(given).put('a.jsonl', text, undefined)).rejects.toMatchObject(refused)
    expect([s3.seen.length, s3.objects.size]).toEqual([2, 0])
  })

  test('two writers to a bucket overwrite nothing, and a lost answer leads to no second write', async () => {
    await expectNoLostUpdate(store())
    s3.lost.push(true)
    await append(store(), 'a/b.jsonl', 'new')
    expect((await store().get('a/b.jsonl'))?.text).toBe(`${text}new\n`)
  })

  test('a busy bucket is asked a few times', async () => {
    s3.failures.push(503, 500)
    await store().put('a.jsonl', text, undefined)
    expect([s3.seen.length, s3.objects.size]).toEqual([3, 1])
    s3.failures.push(503, 503, 503, 503)
    await expect(store().get('a.jsonl')).rejects.toMatchObject({
      ...{ code: 'ARCHIVE_UNAVAILABLE', retriable: true, message: expect.stringContaining('HTTP 503 SlowDown') as string },
    })
    expect(s3.seen.length).toBe(7)
  })
})
