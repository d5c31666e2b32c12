import { expect, test } from 'vitest'
import { explain } from '../../../operations/causes/explain.ts'
import type { Facts } from '../../../operations/causes/facts.ts'
import { initialStream } from '../../../domain/stream/reducer.ts'
import type { StreamState } from '../../../domain/stream/stream.ts'
import { at, chain, config, facts, nodes, read } from './facts.ts'

const bridge = 'wormhole-token-bridge'
const stream = `${bridge}:wormhole-2:00`

function of(changes: Partial<StreamState>, more: Partial<Facts> = {}) {
  const state = { ...initialStream({ stream, origin: '2/00', first: '0', maxOpen: 10 }), ...changes }
  return explain(facts({ streams: [{ stream, state: read(state) }], ...more }), config)
}

test('a spy is silent if two messages came without it: one may be lost, or the spy away', () => {
  const spies = [{ address: 'spy:1', bridge, asOf: at, kept: 0, unknownSets: 0 }]
  const missedBySpy = { from: '3', to: '7', since: at - 60_000 }
  expect(of({ missedBySpy }, { spies })).toMatchObject([
    { code: 'SPY_SILENT', where: { kind: 'spy', id: 'spy:1' }, since: '2026-11-22T11:59:00.000Z', count: 0 },
  ])
  expect(of({ missedBySpy: { ...missedBySpy, to: '3' } }, { spies })).toEqual([])
  expect(of({ missedBySpy }, { spies: [{ ...spies[0]!, problem: 'ECONNREFUSED' }] })).toMatchObject([{ code: 'SPY_UNAVAILABLE' }])
})

test('a spy that sends messages of an unknown guardian set does not count as silent', () => {
  const spies = [{ address: 'spy:1', bridge, asOf: at, kept: 2, unknownSets: 2 }]
  const missedBySpy = { from: '3', to: '7', since: at - 60_000 }
  expect(of({ missedBySpy }, { spies }).map(({ code }) => code)).toEqual(['GUARDIAN_SET_UNKNOWN'])
})

test('a number whose message was received is never shown as a number without signatures', () => {
  const gap = { from: '3', to: '3', at: at - 60_000, state: 'unstarted', code: 'NODE_UNAVAILABLE', chain: 'bsc' } as const
  const dead = chain({ nodes: nodes(undefined) })
  expect(of({ gaps: [gap], next: '4' }).map(({ code }) => code)).toEqual(['GAP_UNSTARTED'])
  expect(of({ gaps: [gap], next: '4' }, { chains: [dead] })).toMatchObject([{ code: 'CHAIN_UNREACHABLE', count: 1 }])
})
