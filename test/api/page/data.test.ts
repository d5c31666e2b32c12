import { describe, expect, test } from 'vitest'
import { createEventParser, type StreamEvent } from '../../../api/page/data/event-stream.ts'
import { type Claims, missingFor } from '../../../api/page/data/session.ts'

/** The events of a stream that comes in these pieces. */
function eventsOf(...pieces: string[]): StreamEvent[] {
  const events: StreamEvent[] = []
  const parse = createEventParser((event) => events.push(event))
  for (const piece of pieces) parse(piece)
  return events
}

describe('server-sent events', () => {
  const stream = 'retry: 3000\n\n: alive\n\nid: a-1\nevent: transfer\ndata: {"id":1}\n\ndata: one\ndata:two\n\n'
  const expected = [
    { name: 'transfer', data: '{"id":1}', id: 'a-1' },
    { name: 'message', data: 'one\ntwo', id: 'a-1' },
  ]

  test('server-sent events are parsed in pieces of any size, with any line ends', () => {
    expect(eventsOf(stream)).toEqual(expected)
    expect(eventsOf(...stream.split(''))).toEqual(expected)
    expect(eventsOf(...stream.replaceAll('\n', '\r\n').split(''))).toEqual(expected)
    expect(eventsOf(stream.replaceAll('\n', '\r'), 'x: 1\n')).toEqual(expected)
  })

  test('an event without an end or without data is ignored', () => {
    expect(eventsOf('data: x\n')).toEqual([])
    expect(eventsOf('event: x\n\n')).toEqual([])
  })

  test('a line without an end does not fill the memory', () => {
    expect(eventsOf(...Array.from({ length: 11 }, () => 'x'.repeat(100_000)), '\n\ndata: y\n\n')).toEqual([
      { name: 'message', data: 'y', id: '' },
    ])
  })
})

describe('rights that a token lacks for an order', () => {
  const claims: Claims = { name: 'night-shift', level: 'write', expiresAt: 1_000 }

  test.each<[string, Claims | undefined, string | undefined, string | undefined]>([
    ['no token', undefined, 'bsc', 'none was entered'],
    ['a level too low', { ...claims, level: 'read' }, 'bsc', 'that of night-shift is of level read'],
    ['a level that is not known', { ...claims, level: 'king' }, 'bsc', 'is of level king'],
    ['another chain', { ...claims, chains: ['ethereum'] }, 'bsc', 'only for ethereum'],
    ['an end that has passed', { ...claims, expiresAt: 500 }, 'bsc', 'has expired'],
    ['nothing', { ...claims, chains: ['bsc'] }, 'bsc', undefined],
    ['nothing, of a higher level', { ...claims, level: 'admin' }, undefined, undefined],
  ])('%s', (_, given, chain, text) => {
    const missing = missingFor(given, chain, 500)
    if (text === undefined) expect(missing).toBeUndefined()
    else expect(missing).toContain(text)
  })
})
