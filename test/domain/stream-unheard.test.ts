import { describe, expect, test } from 'vitest'
import { initialStream } from '../../domain/stream/reducer.ts'
import { assertStreamUpdate } from '../../domain/stream/request.ts'
import { config, tell } from './stream-requests.ts'

describe('a spy that says nothing', () => {
  const seen = (numbers: readonly string[], how: object = {}) =>
    ({ kind: 'seen', numbers: numbers.map((number) => [number] as const), ...how }) as const
  const untold = (from: string, to = from) => seen([from], { unheard: [[from, to]] })

  test('is known by what came otherwise: the lowest and the highest number, whoever found them, and how often', () => {
    const two = tell(initialStream(config), untold('3'), untold('5'), untold('3'))
    expect(two.unheard).toEqual({ from: '3', to: '5', since: 1_000 })
    expect(tell(two, untold('1')).unheard).toEqual({ from: '1', to: '5', since: 1_000 })
  })

  test('is over with the next number that it tells, and with no other', () => {
    const one = tell(initialStream(config), untold('3'))
    expect(tell(one, seen(['4'])).unheard).toEqual(one.unheard)
    expect(tell(one, seen(['4'], { heard: true }))).not.toHaveProperty('unheard')
  })

  test('is told by requests that are in order only', () => {
    expect(() => assertStreamUpdate({ requests: [seen(['4'], { heard: false })] })).toThrow('heard')
    expect(() => assertStreamUpdate({ requests: [seen(['4'], { unheard: [['5', '4x']] })] })).toThrow('unheard')
  })
})
