import { describe, expect, test } from 'vitest'
import { initialStream } from '../../domain/stream/reducer.ts'
import { assertStreamUpdate } from '../../domain/stream/request.ts'
import { config, tell } from './stream-requests.ts'

describe('messages that the spy has missed', () => {
  const seen = (numbers: readonly string[], how: object = {}) =>
    ({ kind: 'seen', numbers: numbers.map((number) => [number] as const), ...how }) as const
  const missed = (from: string, to = from) => seen([from], { missedBySpy: [[from, to]] })

  test('the lowest and the highest missed number are kept, whichever process found them', () => {
    const two = tell(initialStream(config), missed('3'), missed('5'), missed('3'))
    expect(two.missedBySpy).toEqual({ from: '3', to: '5', since: 1_000 })
    expect(tell(two, missed('1')).missedBySpy).toEqual({ from: '1', to: '5', since: 1_000 })
  })

  test('the next message from the spy ends its silence, and no other message does', () => {
    const one = tell(initialStream(config), missed('3'))
    expect(tell(one, seen(['4'])).missedBySpy).toEqual(one.missedBySpy)
    expect(tell(one, seen(['4'], { received: true }))).not.toHaveProperty('missedBySpy')
  })

  test('malformed reports of the spy are refused', () => {
    expect(() => assertStreamUpdate({ requests: [seen(['4'], { received: false })] })).toThrow('received')
    expect(() => assertStreamUpdate({ requests: [seen(['4'], { missedBySpy: [['5', '4x']] })] })).toThrow('missedBySpy')
  })
})
