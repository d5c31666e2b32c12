import { expect, test } from 'vitest'
import { readTrace } from '../../../lab/model/trace.ts'
import { differences, show, TlaReader } from '../../../lab/model/value.ts'

const printed = `---------------- MODULE run_0_0 -----------------
STATE_1 == 
/\\ ledger = [ next |-> 0,
  entries |-> (0 :> Nil @@ 1 :> [owner |-> <<t1, 1>>, sent |-> FALSE]),
  tombstones |-> {} ]
/\\ act = <<"Init">>


STATE_2 == 
/\\ ledger = [next |-> -1, entries |-> <<"none", "undone">>, tombstones |-> {2, <<t1, 2>>}]
/\\ act = <<"Ask", 1, <<t1, 1>>, Nil>>


=================================================
`

test('a run that TLC printed is read with its actions and states', () => {
  const [first, second] = readTrace(printed)
  expect(first).toMatchObject({ name: 'Init', args: [] })
  expect(first?.state['ledger']).toEqual({
    next: 0,
    entries: new Map<number, unknown>([
      [0, null],
      [1, { owner: ['t1', 1], sent: false }],
    ]),
    tombstones: new Set(),
  })
  expect(second).toMatchObject({ name: 'Ask', args: [1, ['t1', 1], null] })
  expect(second?.state['ledger']).toEqual({ next: -1, entries: ['none', 'undone'], tombstones: new Set([2, ['t1', 2]]) })
})

test('text that is no value of TLA+ is refused', () => {
  for (const text of ['<<1, 2', '[a |-> ]', '/\\ 1', '{1 2}', '§']) expect(() => new TlaReader(text).value(), text).toThrow('not a value')
  expect(() => readTrace('STATE_1 ==\n/\\ x = 1\n')).toThrow('no action')
})

test('values are equal in any order of sets, functions and fields', () => {
  const read = (text: string) => show(new TlaReader(text).value())
  expect(read('[a |-> {1, 2}, b |-> (1 :> 2 @@ 3 :> 4)]')).toBe(read('[b |-> (3 :> 4 @@ 1 :> 2), a |-> {2, 1}]'))
  expect(read('<<1, 2>>')).not.toBe(read('<<2, 1>>'))
  expect(read('{1}')).not.toBe(read('<<1>>'))
  expect(read('"Nil"')).not.toBe(read('Nil'))
})

test('a difference is named by its place', () => {
  const read = (text: string) => new TlaReader(text).value()
  expect(differences(read('[a |-> (0 :> [sent |-> TRUE])]'), read('[a |-> (0 :> [sent |-> FALSE])]'), 'ledger')).toEqual([
    'ledger.a.0.sent: the model has TRUE, the reducer FALSE',
  ])
  expect(differences(read('[a |-> 1]'), read('[a |-> 1]'))).toEqual([])
})
