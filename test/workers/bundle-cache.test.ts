import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { cachedCode, keyOf } from '../../workers/process/bundle.ts'
import { temporaryFolder } from '../helpers/folders.ts'

describe('The cache of bundled workflow code', () => {
  const root = temporaryFolder()
  let directory: string
  let made = 0
  const make = (code = 'code\nof two lines') => {
    made += 1
    return Promise.resolve(code)
  }

  beforeEach(() => {
    made = 0
    directory = join(temporaryFolder(), 'made/by/itself')
  })

  test('the cache is read first and holds the bundled code', async () => {
    expect(await cachedCode({ directory, key: 'a' }, make)).toBe('code\nof two lines')
    expect(await cachedCode({ directory, key: 'a' }, () => make('other'))).toBe('code\nof two lines')
    expect(made).toBe(1)
    expect(await cachedCode({ directory, key: 'b' }, () => make('other'))).toBe('other')
    expect(await readdir(directory)).toEqual(['a.js', 'b.js'])
  })

  test.each([
    ['cut off', (text: string) => text.slice(0, -1)],
    ['changed', (text: string) => text.replace('two', 'too')],
    ['empty', () => ''],
  ])('a file that is %s counts as none, and is replaced', async (_, damage) => {
    await cachedCode({ directory, key: 'a' }, make)
    const file = join(directory, 'a.js')
    const whole = await readFile(file, 'utf8')
    await writeFile(file, damage(whole))
    expect(await cachedCode({ directory, key: 'a' }, make)).toBe('code\nof two lines')
    expect(made).toBe(2)
    expect(await readFile(file, 'utf8')).toBe(whole)
  })

  test('without a writable cache the code is made each time', async () => {
    const file = join(root, 'a-file')
    await writeFile(file, '')
    for (const count of [1, 2]) {
      expect(await cachedCode({ directory: file, key: 'a' }, make)).toBe('code\nof two lines')
      expect(made).toBe(count)
    }
  })

  test('code that could not be made is not stored', async () => {
    await expect(cachedCode({ directory, key: 'a' }, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(await cachedCode({ directory, key: 'a' }, make)).toBe('code\nof two lines')
  })

  test('processes that make the same code at once all get it', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => cachedCode({ directory, key: 'a' }, make)))
    expect(new Set(all)).toEqual(new Set(['code\nof two lines']))
    expect(await readdir(directory)).toEqual(['a.js'])
  })

  test('the cache holds only the newest files', async () => {
    for (let index = 0; index < 12; index++) await cachedCode({ directory, key: `key-${index}` }, make)
    const left = await readdir(directory)
    expect(left).toHaveLength(8)
    expect(left).toContain('key-11.js')
  })

  test('the key changes with contents, names and facts, not with the order', async () => {
    const [one, two] = [join(root, 'one.ts'), join(root, 'two.ts')]
    await writeFile(one, '1')
    await writeFile(two, '2')
    const key = await keyOf([one, two], ['fact'])
    expect(await keyOf([two, one], ['fact'])).toBe(key)
    const others = [await keyOf([one], ['fact']), await keyOf([one, two], ['other'])]
    await writeFile(two, '3')
    others.push(await keyOf([one, two], ['fact']))
    await writeFile(one, '3')
    await writeFile(two, '1')
    others.push(await keyOf([one, two], ['fact']))
    expect(new Set([key, ...others]).size).toBe(5)
  })
})
