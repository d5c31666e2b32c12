import { expect, test } from 'vitest'
import { boundedMemo } from '../../runtime/bounded-memo.ts'

test('a value is made once, until so many others were made; what fails is made again', () => {
  const made: string[] = []
  const memo = boundedMemo(2, (key: string) => {
    made.push(key)
    if (key === 'bad') throw new Error('no')
    return key.length
  })
  expect([memo('a'), memo('a'), memo('bb'), memo('a')]).toEqual([1, 1, 2, 1])
  expect(made).toEqual(['a', 'bb'])
  expect(() => memo('bad')).toThrow('no')
  expect(() => memo('bad')).toThrow('no')
  expect([memo('ccc'), memo('a')]).toEqual([3, 1])
  expect(made).toEqual(['a', 'bb', 'bad', 'bad', 'ccc', 'a'])
})
