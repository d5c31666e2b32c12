import { expect, test } from 'vitest'
import type { LaneId } from '../../../domain/lane/lane.ts'
import { explain } from '../../../operations/causes/explain.ts'
import { config, facts, lane, laneFacts, ledger, read, transfer } from './facts.ts'

const other = 'evm-1397:0x8617e340b3d01fa5f11f306f4090fd50e238070d'

test('a closed lane explains a transfer whose terms name this lane, and none whose terms name another', () => {
  const chosen = (id: string, chosenLane: LaneId) => transfer(id, { code: 'LANE_CHOSEN', chosenLane })
  const broke = laneFacts({ ledger: read(ledger({ broke: { detail: 'balance 1 wei', cost: '2000000000000000000000' } })) })
  const rows = explain(facts({ lanes: [broke], transfers: [chosen('a', lane), chosen('b', other)] }), config)
  expect(rows.map(({ code, examples }) => [code, examples])).toEqual([
    ['LANE_FUNDS', ['a']],
    ['LANE_CHOSEN', ['b']],
  ])
})
