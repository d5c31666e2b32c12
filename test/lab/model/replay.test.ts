import { expect, test } from 'vitest'
import { LaneReplay } from '../../../lab/model/lane-replay.ts'
import { driftOf } from '../../../lab/model/replay.ts'
import { StreamReplay } from '../../../lab/model/stream-replay.ts'
import { readTrace } from '../../../lab/model/trace.ts'

const laneScope = { nonces: 2, window: 2, rounds: 1, transfers: ['t1'] } as const
const entry = (fields: string) => `[owner |-> <<t1, 1>>, by |-> Nil, ${fields}]`
const ledger = (fields: string, first = 'Nil') =>
  `/\\ ledger = [synced |-> TRUE, seen |-> TRUE, latest |-> 0, finalized |-> 0, tombstones |-> {}, ${fields}, entries |-> (0 :> ${first} @@ 1 :> Nil)]`
const granted = entry('id |-> 1, sent |-> FALSE, fill |-> "none", attempts |-> <<"call">>')
const repeated = entry('id |-> 0, sent |-> TRUE, fill |-> "none", attempts |-> <<"call">>')
const orphaned = entry('id |-> 0, sent |-> TRUE, fill |-> "orphaned", attempts |-> <<"call">>')
const laneRun = (second = repeated) => `
STATE_1 ==
${ledger('next |-> 0')}
/\\ act = <<"Observe", 0, 0, 0, {}, FALSE>>
STATE_2 ==
${ledger('next |-> 1', granted)}
/\\ act = <<"Ask", 1, <<t1, 1>>, 0>>
STATE_3 ==
${ledger('next |-> 1', second)}
/\\ act = <<"Ask", 2, <<t1, 1>>, 0>>
STATE_4 ==
${ledger('next |-> 1', orphaned)}
/\\ act = <<"Observe", 0, 0, Nil, {}, TRUE>>
STATE_5 ==
${ledger('next |-> 1', orphaned)}
/\\ act = <<"Hear", 0, "orphaned">>
`

test('the reducer of lanes makes the steps of a run', () => {
  expect(driftOf(readTrace(laneRun()), 'ledger', new LaneReplay(laneScope))).toBeUndefined()
})

test('a state that the reducer does not reach is a drift, with the steps and the place', () => {
  expect(driftOf(readTrace(laneRun(granted)), 'ledger', new LaneReplay(laneScope))).toEqual({
    steps: ['Ask 1 t1 1 0', 'Ask 2 t1 1 0'],
    differences: ['ledger.entries.0.id: the model has 1, the reducer 0', 'ledger.entries.0.sent: the model has FALSE, the reducer TRUE'],
  })
})

test('an answer that the model does not expect is a drift', () => {
  const refused = readTrace(laneRun().replace('<<"Ask", 1, <<t1, 1>>, 0>>', '<<"Ask", 1, <<t1, 1>>, Nil>>'))
  expect(driftOf(refused, 'ledger', new LaneReplay(laneScope))?.differences[0]).toContain('the model expects refused')
})

const stream = (fields: string) => `/\\ ledger = [exceptions |-> {}, unknown |-> {}, cursor |-> 0, start |-> 0, unread |-> {}, ${fields}]`
const streamRun = (height: number) => `
STATE_1 ==
${stream('next |-> 3, open |-> {2}, gaps |-> <<"unasked", "none">>')}
/\\ act = <<"Seen", 2, FALSE, FALSE>>
STATE_2 ==
${stream('next |-> 3, open |-> {2}, gaps |-> <<"unasked", "none">>')}
/\\ act = <<"Save", [number |-> 0, height |-> ${height}, exceptions |-> {}]>>
STATE_3 ==
${stream('next |-> 1, open |-> {}, gaps |-> <<"none", "none">>')}
/\\ act = <<"Lose", FALSE, Nil>>
`

test('the reducer of streams makes the steps of a run', () => {
  const scope = { numbers: 2, maxOpen: 2, scans: false }
  expect(driftOf(readTrace(streamRun(0)), 'ledger', new StreamReplay(scope))).toBeUndefined()
  const ahead = readTrace(streamRun(0).replace('number |-> 0', 'number |-> 1'))
  expect(driftOf(ahead, 'ledger', new StreamReplay(scope))?.differences).toEqual(["the checkpoint vouches up to 0, the model's up to 1"])
})
