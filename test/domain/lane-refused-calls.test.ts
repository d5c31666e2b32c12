import { packEntries, unpackEntries } from '../../domain/lane/storage/pack.ts'
import { Bench } from './lane-bench.ts'
import { expect, test } from 'vitest'

const id = 'o'

test('a nonce that is filled because nodes refused its call keeps their text; the first reason holds', () => {
  const lane = new Bench()
  lane.grant('a')
  lane.grant('b')
  lane.do({ kind: 'fill', id, nonce: 5, reason: 'refused', refusal: 'fatal: oversized data' })
  lane.do({ kind: 'cancelNonce', id, nonce: 6 })
  lane.do({ kind: 'fill', id, nonce: 6, reason: 'refused', refusal: 'fatal: oversized data' })
  const { orders } = lane.apply({ requests: [] })
  expect(orders).toMatchObject([
    { nonce: 5, reason: 'refused', refusal: 'fatal: oversized data' },
    { nonce: 6, reason: 'cancelled' },
  ])
  expect(orders[1]).not.toHaveProperty('refusal')
  expect(unpackEntries(packEntries(Object.values(lane.state.entries)))).toEqual(Object.values(lane.state.entries))
  lane.observe({ latest: 7, height: 101 })
  expect(lane.apply({ requests: [] }).orders).toEqual([])
})
