import { expect, test } from 'vitest'
import { remember } from '../../runtime/remember.ts'

test('callers of one key share one question until it is cleared', async () => {
  const asked: string[] = []
  const answers = remember((key: string) => Promise.resolve(asked.push(key)))
  expect(await Promise.all([answers.get('a'), answers.get('a'), answers.get('b')])).toEqual([1, 1, 2])
  answers.clear()
  expect(await answers.get('a')).toBe(3)
  expect(asked).toEqual(['a', 'b', 'a'])
})

test('a failure and an answer that does not last are asked for again', async () => {
  let asked = 0
  const ask = () => (++asked === 1 ? Promise.reject(new Error('away')) : Promise.resolve(asked))
  const answers = remember(ask, (answer) => answer > 2)
  await expect(answers.get('a')).rejects.toThrow('away')
  expect([await answers.get('a'), await answers.get('a'), await answers.get('a')]).toEqual([2, 3, 3])
})
