import { expect, test } from 'vitest'
import { readingOf } from '../../../operations/causes/lane-readings.ts'
import { explain } from '../../../operations/causes/explain.ts'
import { chain, config, facts, lane, laneFacts, ledger, nodes, read } from './facts.ts'

const observedAt = '2026-11-22T11:00:00.000Z'
const row = { lane, chain: 'bsc', status: 'active', balance: '7', observedAt }

test('a lane has the balance of a node; without one it has the old balance with its age, and is not active', () => {
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

test('a nonce that a lane gives after a hundred idle blocks is not stuck', () => {
  const attempt = { kind: 'call', gasLimit: '21000', maxFee: '2000000000', tip: '1' } as const
  const entry = { nonce: 5, grantedTo: 'a', maybeSent: true, sinceBlock: 900, claimedBlock: 900, attempts: [attempt] }
  const codes = (height: number) => {
    const observed = { ...ledger().observed!, height }
    const lanes = [laneFacts({ ledger: read(ledger({ next: 6, observed, entries: { 5: entry } })) })]
    return explain(facts({ lanes }), config).map(({ code }) => code)
  }
  expect([codes(900), codes(1_000)]).toEqual([[], ['NONCE_STUCK']])
})
