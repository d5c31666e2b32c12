import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createArchiveStore } from '../../archive/create-store.ts'
import { s3Credentials, startS3 } from '../helpers/s3-server.ts'

const text = '{"id":"a:ü","n":"1"}\n'

describe('an archive in a folder', () => {
  test('has what was written last, whole, for its user alone; what was never written is not there', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'portage-archive-'))
    try {
      const store = createArchiveStore({ kind: 'directory', path: join(dir, 'kept') })
      expect(await store.get('a/b.jsonl')).toBeUndefined()
      await store.put('a/b.jsonl', 'old')
      await store.put('a/b.jsonl', text)
      expect(await store.get('a/b.jsonl')).toBe(text)
      expect(await readdir(join(dir, 'kept', 'a'))).toEqual(['b.jsonl'])
      const modes = await Promise.all(
        ['', 'a', 'a/b.jsonl'].map(async (path) => ((await stat(join(dir, 'kept', path))).mode & 0o777).toString(8)),
      )
      expect(modes).toEqual(['700', '700', '600'])
      // A file in the place of the folder.
      const blocked = createArchiveStore({ kind: 'directory', path: join(dir, 'kept', 'a', 'b.jsonl') })
      await expect(blocked.put('c.jsonl', text)).rejects.toMatchObject({ code: 'ARCHIVE_UNAVAILABLE' })
      await expect(blocked.get('c.jsonl')).rejects.toMatchObject({ code: 'ARCHIVE_UNAVAILABLE' })
    } finally {
      await rm(dir, { recursive: true })
    }
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
  afterEach(async () => {
    vi.unstubAllEnvs()
    await s3.stop()
  })

  test('has what was written last; every request is signed, with the hash of its body', async () => {
    expect(await store().get('a/b.jsonl')).toBeUndefined()
    await store().put('a/b.jsonl', 'old')
    await store().put('a/b.jsonl', text)
    expect(await store().get('a/b.jsonl')).toBe(text)
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
    await expect(store(given).put('a.jsonl', text)).rejects.toMatchObject(refused)
    expect([s3.seen.length, s3.objects.size]).toEqual([2, 0])
  })

  test('a store that is busy is asked again, a few times', async () => {
    s3.failures.push(503, 500)
    await store().put('a.jsonl', text)
    expect([s3.seen.length, s3.objects.size]).toEqual([3, 1])
    s3.failures.push(503, 503, 503, 503)
    await expect(store().get('a.jsonl')).rejects.toMatchObject({
      ...{ code: 'ARCHIVE_UNAVAILABLE', retriable: true, message: expect.stringContaining('HTTP 503 SlowDown') as string },
    })
    expect(s3.seen.length).toBe(7)
  })
})
