import { expect, test } from 'vitest'
import { keptRead, keptReads, sharedRead } from '../../runtime/shared-read.ts'

test('a thousand simultaneous callers share one read, which begins after all of their calls', async () => {
  let reads = 0
  const read = sharedRead(() => Promise.resolve(++reads), 1_000_000)
  const answers = await Promise.all(Array.from({ length: 1_000 }, read))
  expect([new Set(answers), reads]).toEqual([new Set([1]), 1])
})

test('a caller during a read gets the next read', async () => {
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

test('an error reaches all callers of its read, and the next call starts another read', async () => {
  let reads = 0
  const read = sharedRead(() => (++reads === 1 ? Promise.reject(new Error('away')) : Promise.resolve('back')), 1)
  await expect(read()).rejects.toThrow('away')
  expect(await read()).toBe('back')
})

test('a kept answer goes to all callers during its read, and for the given time afterwards', async () => {
  for (const keeping of [{ fromAnswer: 1_000_000 }, { fromStart: 1_000_000 }]) {
    let reads = 0
    const read = keptRead(() => Promise.resolve(++reads), keeping)
    expect(new Set(await Promise.all(Array.from({ length: 1_000 }, read)))).toEqual(new Set([1]))
    expect([await read(), reads]).toEqual([1, 1])
  }
})

test('an old answer is read again: its age counts from the answer, or from the start of its read', async () => {
  for (const [keeping, both] of [
    [{ fromAnswer: 0 }, [1, 1]],
    [{ fromStart: 0 }, [1, 2]],
  ] as const) {
    let reads = 0
    const read = keptRead(() => Promise.resolve(++reads), keeping)
    expect(await Promise.all([read(), read()])).toEqual(both)
    expect(await read()).toBe(both[1] + 1)
  }
})

test('the time for which an answer is kept may depend on the answer; an error is not kept', async () => {
  let reads = 0
  const answers = [() => Promise.reject(new Error('away')), () => Promise.resolve(false), () => Promise.resolve(true)]
  const read = keptRead(() => answers[Math.min(reads++, 2)]!(), { fromAnswer: (isThere) => (isThere ? Infinity : 0) })
  await expect(read()).rejects.toThrow('away')
  expect([await read(), await read(), await read(), reads]).toEqual([false, true, true, 3])
})

test('callers with one key share one read until the answers are cleared', async () => {
  const asked: string[] = []
  const answers = keptReads((key: string) => Promise.resolve(asked.push(key)))
  expect(await Promise.all([answers.get('a'), answers.get('a'), answers.get('b')])).toEqual([1, 1, 2])
  answers.clear()
  expect(await answers.get('a')).toBe(3)
  expect(asked).toEqual(['a', 'b', 'a'])
})

test('after a failure, or an answer that is not kept, the next call starts another read', async () => {
  let asked = 0
  const ask = () => (++asked === 1 ? Promise.reject(new Error('away')) : Promise.resolve(asked))
  const answers = keptReads(ask, { lasting: (answer) => answer > 2 })
  await expect(answers.get('a')).rejects.toThrow('away')
  expect([await answers.get('a'), await answers.get('a'), await answers.get('a')]).toEqual([2, 3, 3])
})

test('a caller may demand a younger answer, and gets the last one if no younger can be read', async () => {
  let [now, reads] = [0, 0]
  const read = () => (++reads === 3 ? Promise.reject(new Error('away')) : Promise.resolve(reads))
  const answers = keptReads<'a', number>(read, undefined, { orLast: true, clock: () => now })
  expect(await answers.get('a')).toBe(1)
  now = 1_000
  expect([await answers.get('a'), await answers.get('a', 1_001), await answers.get('a', 1_000)]).toEqual([1, 1, 2])
  now = 2_000
  expect([await answers.get('a', 1_000), reads]).toEqual([2, 3])
  expect([await answers.get('a', 1_000), reads]).toEqual([2, 3])
})
