import { expect, test } from 'vitest'
import { explain } from '../../../operations/causes/explain.ts'
import type { Facts } from '../../../operations/causes/facts.ts'
import { noSettings } from '../../../domain/settings/settings.ts'
import { initialStream } from '../../../domain/stream/reducer.ts'
import type { StreamState } from '../../../domain/stream/stream.ts'
import { at, chain, config, facts, followed, followedName, head, lane, laneFacts, nodes, read, unread } from './facts.ts'

const native = 'native-bridge:ethereum:bsc'
const periodMs = config.streams.auditMinutes * 60_000
const codes = (changes: Partial<Facts>) => explain(facts(changes), config).map(({ code }) => code)

function streamOf(changes: Partial<StreamState>, stream = followedName): Pick<Facts, 'streams'> {
  const state = { ...initialStream({ stream, origin: '4/00', first: '0', maxOpen: 10 }), ...changes }
  return { streams: [{ stream, state: read(state) }] }
}

test('without native routes, a dead or hung intake is reported once two audits are missing', () => {
  expect(codes(streamOf({ updatedAt: at - 2 * periodMs }))).toEqual([])
  const rows = explain(facts(streamOf({ updatedAt: at - 3 * periodMs })), config)
  expect(rows).toMatchObject([{ code: 'INTAKE_SILENT', where: { id: 'intake' }, since: '2026-11-22T11:45:00.000Z' }])
  expect(rows[0]?.what).toMatch(/ is 15 min old\.$/)
  expect(rows[0]?.next[0]).toBe('portage run --role intake')
})

test('an intake that never ran is reported, unless no workflow answers', () => {
  expect(codes({ streams: [] })).toEqual(['INTAKE_SILENT'])
  const { ledger } = facts()
  expect(codes({ streams: [], ledger: { ...ledger, asked: 3, answered: 0 } })).toEqual(['LEDGER_WITHOUT_WORKER'])
})

test('gaps and messages missed by the spy are no rows of their own while the intake is silent', () => {
  const gap = { from: '3', to: '3', state: 'unasked', at: at - 60_000 } as const
  const missedBySpy = { from: '3', to: '4', since: at - 60_000 }
  const spy = { address: 'spy:1', bridge: 'wormhole-token-bridge', asOf: at, kept: 0, unknownSets: 0 }
  const changes = { ...streamOf({ updatedAt: at - 3 * periodMs, next: '5', gaps: [gap], missedBySpy }), spies: [spy] }
  expect(explain(facts(changes), config)).toMatchObject([{ code: 'INTAKE_SILENT', count: 1, examples: ['3'] }])
})

test('if a native stream lags without a report for a minute, the cause is a silent intake, not a lag', () => {
  const chains = { chains: [chain({ chain: 'ethereum' }), chain()] }
  const of = (changes: Partial<StreamState>) =>
    codes({ ...chains, ...streamOf({ cursor: { height: 100, hash: '0x' }, ...changes }, native) })
  expect(of({ updatedAt: at - 50_000 })).toEqual(['STREAM_LAGS'])
  expect(of({ updatedAt: at - 70_000 })).toEqual(['INTAKE_SILENT'])
  expect(of({ updatedAt: at - 70_000, open: [{ number: '1' }], maxOpen: 1 })).not.toContain('INTAKE_SILENT')
})

test('a stream whose source cannot be audited does not show that the intake is silent', () => {
  const old = streamOf({ updatedAt: at - 3 * periodMs })
  expect(codes({ ...old, chains: [chain({ nodes: nodes(undefined) })] })).toEqual(['CHAIN_UNREACHABLE'])
  const halt = { scope: { sourceChain: 'bsc' }, by: 'portage', reason: 'contracts contradict', at: at - 60_000 }
  expect(codes({ ...old, settings: read({ ...noSettings, halts: [halt] }) })).toEqual(['HALTED'])
  expect(codes({ streams: [followed], chains: [chain({ nodes: nodes(head) })] })).toEqual([])
})

test('a stream or lane that does not answer because its task fails is no row of its own', () => {
  const failing = (workflow: string) => ({ failing: [{ workflow, tries: 4 }] })
  const streams = [{ stream: followedName, state: unread('LANE_UNREACHABLE') }]
  const id = followedName.replace('bsc', '4')
  expect(codes({ streams })).toEqual(['STREAM_UNREACHABLE'])
  expect(codes({ streams, ...failing(`stream:${id}`) })).toEqual(['WORKFLOW_FAILING'])
  const lanes = [laneFacts({ ledger: unread('LANE_UNREACHABLE') })]
  expect(codes({ lanes })).toEqual(['LANE_UNREACHABLE'])
  expect(codes({ lanes, ...failing(`lane:${lane}`) })).toEqual(['WORKFLOW_FAILING'])
})
