import { expect, test } from 'vitest'
import { sharedRead } from '../../lanes/shared-read.ts'

test('a thousand who ask at a time share one read, which began after each of them had asked', async () => {
  let reads = 0
  const read = sharedRead(() => Promise.resolve(++reads), 1_000_000)
  const answers = await Promise.all(Array.from({ length: 1_000 }, read))
  expect([new Set(answers), reads]).toEqual([new Set([1]), 1])
})

test('who asks while a read is under way gets the next one', async () => {
  const ends: ((answer: string) => void)[] = []
  const read = sharedRead(() => new Promise<string>((resolve) => ends.push(resolve)), 1)
  const first = read()
  await expect.poll(() => ends.length).toBe(1)
  const second = read()
  await expect.poll(() => ends.length).toBe(2)
  ends[1]?.('later')
  ends[0]?.('earlier')
  expect(await Promise.all([first, second])).toEqual(['earlier', 'later'])
})

test('an error is told to those who asked, and the next read is another', async () => {
  let reads = 0
  const read = sharedRead(() => (++reads === 1 ? Promise.reject(new Error('away')) : Promise.resolve('back')), 1)
  await expect(read()).rejects.toThrow('away')
  expect(await read()).toBe('back')
})
