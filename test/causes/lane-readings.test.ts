import { expect, test } from 'vitest'
import { readingOf } from '../../causes/lane-readings.ts'
import { chain, lane, nodes } from './facts.ts'

const observedAt = '2026-11-22T11:00:00.000Z'
const row = { lane, chain: 'bsc', status: 'active', balance: '7', observedAt }

test('a lane has the balance that a node shows now; where none answers, the old one with its age, and it is not called active', () => {
  expect(readingOf(row, chain())).toMatchObject({ status: 'active', balance: '5000000000000000000', balanceAt: '2026-11-22T12:00:00.000Z' })
  const dead = chain({ nodes: nodes(undefined), balances: new Map() })
  expect(readingOf(row, dead)).toMatchObject({
    status: 'chain away',
    reason: 'no node of bsc answers',
    balance: '7',
    balanceAt: observedAt,
  })
  expect(readingOf({ ...row, status: 'paused', reason: 'a look' }, dead)).toMatchObject({
    status: 'paused',
    reason: 'a look',
    balanceAt: observedAt,
  })
})
