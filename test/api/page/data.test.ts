import { describe, expect, test } from 'vitest'
import { createEventParser, type StreamEvent } from '../../../api/page/data/event-stream.ts'
import { filterIn, shownStates, transfersHref, transfersPath } from '../../../api/page/data/transfer-filter.ts'
import { transferStates } from '../../../domain/transfer/transfer.ts'
import { type Claims, missingFor } from '../../../api/page/data/session.ts'

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
  ])('the rights that a token lacks for an order are named: %s', (_, given, chain, text) => {
    const missing = missingFor(given, chain, 500)
    if (text === undefined) expect(missing).toBeUndefined()
    else expect(missing).toContain(text)
  })
})

describe('the filter of the transfers view', () => {
  test('the filter is kept in the address, and parameters that the view does not have are ignored', () => {
    const filter = { state: 'open', lane: `evm-56:0x${'a'.repeat(40)}`, olderThan: '1h', code: undefined }
    expect(filterIn(transfersHref(filter))).toEqual({ state: 'open', lane: filter.lane, olderThan: '1h' })
    expect(filterIn(transfersHref({}))).toEqual({})
    expect(filterIn('#/transfers?limit=9&cursor=x&colour=red&state=')).toEqual({})
    for (const other of ['#/', '#parked', '#/transfer/a', '#/transfersx', '#/transfers/x']) expect(filterIn(other)).toBeUndefined()
  })

  test('the filter becomes a query of the API, in which open and undone are kinds of execution', () => {
    expect(transfersPath({ state: 'open', chain: 'bsc' }, 50)).toBe('v1/transfers?execution=open&chain=bsc&limit=50')
    expect(transfersPath({ state: 'undone' }, 50, 'a+b')).toBe('v1/transfers?execution=undone&limit=50&cursor=a%2Bb')
    expect(transfersPath({ state: 'parked' }, 50)).toBe('v1/transfers?state=parked&limit=50')
  })

  test('every state of a transfer can be chosen', () => {
    expect(shownStates.toSorted()).toEqual(['open', 'undone', ...transferStates].toSorted())
  })
})
