import { describe, expect, test } from 'vitest'
import { explain } from '../../../operations/causes/explain.ts'
import type { Facts } from '../../../operations/causes/facts.ts'
import { causeReportSchema } from '../../../operations/causes/schema.ts'
import { isStuck } from '../../../domain/catalogue/cause.ts'
import { causeCatalogue } from '../../../domain/catalogue/catalogue.ts'
import { noSettings } from '../../../domain/settings/settings.ts'
import { initialStream } from '../../../domain/stream/reducer.ts'
import type { StreamState } from '../../../domain/stream/stream.ts'
import { at, chain, config, facts, head, lane, laneFacts, ledger, nodes, read, transfer, unpolled, unread } from './facts.ts'

const causes = (changes: Partial<Facts>) => explain(facts(changes), config)
const codes = (changes: Partial<Facts>) => causes(changes).map(({ code }) => code)
const halt = (scope: object) => ({ scope, by: 'night-shift', reason: 'a look', at: at - 90_000 })
const bridge = 'wormhole-token-bridge'
const stream = 'wormhole-token-bridge:wormhole-2:00'

function streamState(changes: Partial<StreamState>) {
  const state = { ...initialStream({ stream, origin: '2/00', first: '0', maxOpen: 10 }), ...changes }
  return [{ stream, state: read(state) }]
}

test('a healthy deployment has no cause', () => {
  expect(causes({})).toEqual([])
  expect(isStuck([])).toBe(false)
})

test('a cause has one row with the number of transfers that it holds up, the oldest first', () => {
  const held = [1, 2, 3, 4].map((one) => transfer(`t${one}`, { code: 'HALTED', startedAt: at - one * 1_000 }))
  const [row, ...others] = causes({ settings: read({ ...noSettings, halts: [halt({ targetChain: 'bsc' })] }), transfers: held })
  expect(others).toEqual([])
  expect(row).toEqual({
    code: 'HALTED',
    severity: 'chain',
    what: 'Halted by night-shift (to bsc): a look',
    where: { kind: 'settings', id: '--target bsc' },
    since: '2026-11-22T11:58:30.000Z',
    asOf: '2026-11-22T12:00:00.000Z',
    count: 4,
    oldest: '2026-11-22T11:59:56.000Z',
    examples: ['t4', 't3', 't2'],
    remedy: causeCatalogue.HALTED.remedy,
    next: ['portage settings', 'portage unhalt --target bsc --reason "<text>"'],
  })
})

test('causes are sorted by harm, then by the number of transfers that they hold up', () => {
  const [paused, gap] = [
    { kind: 'operator', reason: 'keys', by: 'ann' } as const,
    { from: '3', to: '4', state: 'held', at: at - 60_000 } as const,
  ]
  const rows = causes({
    settings: read({ ...noSettings, halts: [halt({ chain: 'wormhole-2' }), halt({ targetChain: 'bsc' })] }),
    lanes: [laneFacts({ ledger: read(ledger({ paused })) })],
    streams: streamState({ gaps: [gap], next: '5' }),
    spies: [{ address: '127.0.0.1:7073', bridge, asOf: at, problem: 'ECONNREFUSED', kept: 0, unknownSets: 0 }],
    transfers: [transfer('a', { sourceChain: 'solana' }), transfer('p', { state: 'parked', code: 'INTERNAL' })],
  })
  expect(rows.map(({ code, count }) => [code, count])).toEqual([
    ['HALTED', 1],
    ['HALTED', 0],
    ['LANE_PAUSED', 0],
    ['INTERNAL', 1],
    ['SPY_UNAVAILABLE', 0],
    ['GAP_HELD', 2],
  ])
})

test('transfers that a cause explains have no row of their own, and parked ones always have', () => {
  const stuck = [
    transfer('a', { code: 'LANE_NONE' }),
    transfer('b', { state: 'broadcasting', lane }),
    transfer('c', { state: 'parked', code: 'GAS_LIMIT' }),
  ]
  const broke = laneFacts({ ledger: read(ledger({ broke: { detail: 'balance 1 wei', cost: '2000000000000000000000' } })) })
  const rows = causes({ lanes: [broke], transfers: stuck })
  expect(rows.map(({ code, count, examples }) => [code, count, examples])).toEqual([
    ['LANE_FUNDS', 2, ['a', 'b']],
    ['GAS_LIMIT', 1, ['c']],
  ])
  expect(rows[1]?.next[1]).toBe('portage transfer retry c --reason "<text>"')
})

describe('chains and nodes', () => {
  test('a chain without an answering node has one row, and its nodes have none', () => {
    const rows = causes({ chains: [chain({ nodes: nodes(undefined, undefined) })], transfers: [transfer('a', { state: 'admitting' })] })
    expect(rows.map(({ code, count, where }) => [code, count, where])).toEqual([['CHAIN_UNREACHABLE', 1, { kind: 'chain', id: 'bsc' }]])
    expect(rows[0]?.what).toContain('connect ECONNREFUSED')
  })
  test('nodes that do not answer and nodes that lag have rows; one of three nodes is no majority', () => {
    expect(codes({ chains: [chain({ nodes: nodes(head, undefined, head) })] })).toEqual(['NODE_DOWN'])
    expect(codes({ chains: [chain({ nodes: nodes(head, { ...head, height: 900 }, head) })] })).toEqual(['NODE_LAGS'])
    expect(codes({ chains: [chain({ nodes: nodes(head, { ...head, height: 900 }) })] })).toEqual(['NODE_LAGS'])
    expect(codes({ chains: [chain({ nodes: nodes(head, undefined, undefined) })] })).toEqual([
      'CHAIN_WITHOUT_MAJORITY',
      'NODE_DOWN',
      'NODE_DOWN',
    ])
  })
  test('a disabled node counts as silent in the majority, and not as down', () => {
    const [first, second] = nodes(head, undefined)
    const disabled = { ...second!, isDisabled: true, head: undefined }
    const { head: _, ...silent } = disabled
    expect(codes({ chains: [chain({ nodes: [first!, silent] })] })).toEqual(['CHAIN_WITHOUT_MAJORITY'])
  })
  test('a node of another network is shown as such', () => {
    const [first, second] = nodes(head, undefined)
    const wrong = { ...second!, head: unread('CHAIN_ID_MISMATCH') }
    expect(codes({ chains: [chain({ nodes: [first!, wrong, { ...first!, node: 'node-3' }] })] })).toEqual(['NODE_WRONG_NETWORK'])
  })
  test('a chain without new blocks, and one without new final blocks, have stalled', () => {
    expect(causes({ chains: [chain({ nodes: nodes({ ...head, at: at - 31_000 }) })] })).toMatchObject([
      { code: 'CHAIN_STALLED', since: '2026-11-22T11:59:29.000Z' },
    ])
    expect(codes({ chains: [chain({ blockTimeMs: 12_000, nodes: nodes({ ...head, at: at - 31_000 }) })] })).toEqual([])
    expect(codes({ chains: [chain({ nodes: nodes({ ...head, finalAt: at - 2 * 3_600_000 }) })] })).toEqual(['FINALITY_STALLED'])
    const half = { nodes: nodes({ ...head, finalAt: at - 1_800_000 }) }
    expect(codes({ chains: [chain(half)] })).toEqual([])
    expect(codes({ chains: [chain({ ...half, finalityStalledMs: 1_200_000 })] })).toEqual(['FINALITY_STALLED'])
  })
})

describe('lanes', () => {
  const of = (state: Parameters<typeof ledger>[0], changes: Partial<Facts> = {}) =>
    codes({ lanes: [laneFacts({ ledger: read(ledger(state)) })], ...changes })
  test.each([
    ['LANE_PAUSED', { paused: { kind: 'operator', reason: 'a look', by: 'ops' } }],
    ['LANE_DRAINING', { closing: { mode: 'draining', reason: 'a look', by: 'ops' } }],
    ['LANE_FORBIDDEN', { closing: { mode: 'forbidden', reason: 'a look', by: 'ops' } }],
    ['LANE_CHAIN_REPLACED', { replaced: { height: 7, hash: '0x07' } }],
    ['LANE_UNSYNCED', { synced: false }],
    ['LANE_WINDOW_ZERO', { config: { ...ledger().config, window: 0 } }],
  ] as const)('%s', (code, state) => {
    expect(of(state)).toEqual([code])
  })
  test('a paused lane shows the time of the order', () => {
    const orders = [{ kind: 'pause', by: 'ann', reason: 'a look', at: at - 5_000 }]
    const [row] = causes({
      lanes: [laneFacts({ ledger: read(ledger({ paused: { kind: 'operator', reason: 'a look', by: 'ann' }, orders })) })],
    })
    expect(row).toMatchObject({ since: '2026-11-22T11:59:55.000Z', what: 'The lane is paused by ann: a look' })
    expect(row?.next.at(-1)).toBe(`portage lane resume ${lane} --reason "<text>"`)
  })
  test('the balance of a node decides whether a lane has funds, not the state of the ledger', () => {
    const empty = chain({ balances: new Map([['0x52908400098527886e0f7030069857d2e4169ee7', '0']]) })
    expect(of({}, { chains: [empty] })).toEqual(['LANE_FUNDS'])
    expect(of({ broke: { detail: 'balance 0 wei', cost: '100' } })).toEqual([])
  })
  test('the lowest nonce of a lane is stuck below the base fee, or if it was given long ago', () => {
    const attempt = { kind: 'call', gasLimit: '21000', maxFee: '2000000000', tip: '1' } as const
    const entry = { nonce: 5, grantedTo: 'a', maybeSent: true, sinceBlock: 995, claimedBlock: 1_000, attempts: [attempt] }
    expect(of({ next: 6, entries: { 5: entry } })).toEqual([])
    expect(of({ next: 6, entries: { 5: { ...entry, sinceBlock: 900 } } })).toEqual(['NONCE_STUCK'])
    expect(of({ next: 6, entries: { 5: { ...entry, attempts: [{ ...attempt, maxFee: '900000000' }] } } })).toEqual(['FEE_LIMIT_REACHED'])
  })
  test('a lane has no worker if no process polls, or if tasks wait and its ledger gets no message', () => {
    const observed = { ...ledger().observed!, at: at - 20_000 }
    const untaken = { asOf: at, value: { isPolled: true, waiting: 3, waitingMs: 9_000 } }
    expect(codes({ lanes: [laneFacts({ queue: unpolled })] })).toEqual(['LANE_WITHOUT_WORKER'])
    expect(codes({ lanes: [laneFacts({ queue: untaken, ledger: read(ledger({ observed })) })] })).toEqual(['LANE_WITHOUT_WORKER'])
    expect(codes({ lanes: [laneFacts({ queue: untaken })] })).toEqual([])
  })
})

describe('workers and Temporal', () => {
  test('portage stuck shows one row for an unreachable Temporal, and still shows the nodes of chains', () => {
    const away = unread('TEMPORAL_UNAVAILABLE')
    const dead = { temporal: away, settings: away, ledger: { queue: away, asked: 0, answered: 0 }, chainWorkers: new Map(), lanes: [] }
    const spies = [{ address: 'spy:1', bridge, asOf: at, kept: 7, unknownSets: 0 }]
    const rows = causes({ ...dead, spies, chains: [chain({ nodes: nodes(undefined) })] })
    expect(rows.map(({ code, count, severity }) => [code, count, severity])).toEqual([
      ['TEMPORAL_UNAVAILABLE', 7, 'everything'],
      ['CHAIN_UNREACHABLE', 0, 'chain'],
    ])
  })
  test('without a worker of the queue ledger its silent workflows have no rows of their own', () => {
    const silent = laneFacts({ ledger: unread('LANE_UNREACHABLE') })
    const rows = causes({
      ledger: { queue: unpolled, asked: 2, answered: 0 },
      settings: unread('SETTINGS_UNREACHABLE'),
      lanes: [silent],
      transfers: [transfer('a')],
    })
    expect(rows.map(({ code, count }) => [code, count])).toEqual([['LEDGER_WITHOUT_WORKER', 1]])
  })
  test('a single ledger that does not answer has its own row', () => {
    expect(codes({ lanes: [laneFacts({ ledger: unread('LANE_UNREACHABLE') })] })).toEqual(['LANE_UNREACHABLE'])
  })
  test('transfers that do not answer show a missing worker, although killed pollers are still listed', () => {
    const polled = facts().ledger.queue
    const of = (asked: number, answered: number) => codes({ chainWorkers: new Map([['bsc', { queue: polled, asked, answered }]]) })
    expect(of(0, 0)).toEqual([])
    expect(of(2, 0)).toEqual(['CHAIN_WITHOUT_WORKER'])
    expect(of(2, 1)).toEqual([])
  })
  test('a workflow whose task fails again and again is shown', () => {
    expect(causes({ failing: [{ workflow: 'settings', tries: 4, since: at - 8_000 }] })).toMatchObject([
      {
        code: 'WORKFLOW_FAILING',
        since: '2026-11-22T11:59:52.000Z',
        next: ['temporal workflow describe --workflow-id settings', 'portage doctor'],
      },
    ])
  })
  test('a part that did not answer is a cause', () => {
    const [{ error }] = [unread('TEMPORAL_UNAVAILABLE')]
    expect(codes({ unread: [{ what: 'the transfers', asOf: at, error }] })).toEqual(['UNREAD'])
  })
})

describe('streams', () => {
  const of = (changes: Partial<StreamState>, more: Partial<Facts> = {}) => causes({ streams: streamState(changes), ...more })
  test('gaps have one row for each reason, and a gap of a moment has none', () => {
    const gap = (from: string, to: string, state: 'held' | 'unobserved', age = 60_000) => ({ from, to, state, at: at - age })
    const gaps = [gap('2', '4', 'unobserved'), gap('6', '6', 'held'), gap('8', '8', 'unobserved', 90_000), gap('9', '9', 'held', 1_000)]
    expect(of({ gaps, next: '10' })).toMatchObject([
      { code: 'GAP_UNOBSERVED', count: 4, oldest: '2026-11-22T11:58:30.000Z', examples: ['2', '8'] },
      { code: 'GAP_HELD', count: 1 },
    ])
  })
  test('a paused stream and a forked one are shown', () => {
    const paused = { by: 'ann', reason: 'an upgrade', at: at - 1_000 }
    expect(of({ paused })).toMatchObject([
      { code: 'STREAM_PAUSED', what: 'The stream is paused by ann: an upgrade', since: '2026-11-22T11:59:59.000Z' },
    ])
    expect(of({ fork: { height: 3, known: '0x1', shown: '0x2', at } })).toMatchObject([{ code: 'STREAM_FORKED' }])
  })
  test('a stream without a source in the config is shown with the command that ends it', () => {
    const named = (name: string) => {
      const state = initialStream({ stream: name, origin: '2/00', first: '0', maxOpen: 10 })
      return causes({ streams: [{ stream: name, state: read(state) }] })
    }
    const gone = 'wormhole-token-bridge:wormhole-34:00'
    expect(named(gone)).toMatchObject([
      {
        code: 'STREAM_WITHOUT_SOURCE',
        where: { kind: 'stream', id: gone },
        next: [`portage stream show ${gone}`, `temporal workflow terminate --workflow-id stream:${gone} --reason "<text>"`],
      },
    ])
    expect(named('native-bridge:bsc:ethereum')).toMatchObject([{ code: 'STREAM_WITHOUT_SOURCE' }])
    expect(named('wormhole-token-bridge:2:00')).toMatchObject([{ code: 'STREAM_WITHOUT_SOURCE' }])
  })
  test('a cursor that is far behind is shown, unless the target chain is away', () => {
    const native = 'native-bridge:ethereum:bsc'
    const state = {
      ...initialStream({ stream: native, origin: '1/0', first: '1', start: 1, maxOpen: 9 }),
      cursor: { height: 100, hash: '0x' },
    }
    const streams = [{ stream: native, state: read(state) }]
    const source = chain({ chain: 'ethereum' })
    expect(codes({ streams, chains: [source, chain()] })).toEqual(['STREAM_LAGS'])
    expect(codes({ streams, chains: [source, chain({ nodes: nodes(undefined) })] })).toEqual(['CHAIN_UNREACHABLE'])
  })
})

describe('transfers', () => {
  test('waiting transfers are grouped by code and route, parked ones by code; an unknown code is left out', () => {
    const rows = causes({
      transfers: [
        transfer('a', { code: 'BRIDGE_BUDGET' }),
        transfer('b', { code: 'BRIDGE_BUDGET', sourceChain: 'solana' }),
        transfer('c', { state: 'parked', code: 'GAS_LIMIT' }),
        transfer('d', { state: 'parked', code: 'GAS_LIMIT', sourceChain: 'solana' }),
        transfer('e', { code: '\u001b[31mNONSENSE' }),
      ],
    })
    expect(rows.map(({ code, count, where: { id } }) => [code, count, id])).toEqual([
      ['BRIDGE_BUDGET', 1, 'wormhole-token-bridge:ethereum:bsc'],
      ['BRIDGE_BUDGET', 1, 'wormhole-token-bridge:solana:bsc'],
      ['GAS_LIMIT', 2, 'parked'],
      ['TRANSFERS_WAIT', 1, 'wormhole-token-bridge:ethereum:bsc'],
    ])
  })
  test('transfers are slow by the time at which they came into their state', () => {
    const of = (age: number) => codes({ transfers: [transfer('a', { state: 'admitting', inStateSince: at - age })] })
    expect(of(30_000)).toEqual([])
    expect(of(61_000)).toEqual(['TRANSFERS_SLOW'])
    expect(codes({ transfers: [transfer('a', { state: 'admitting' })] })).toEqual([])
  })
  test('transfers that the deny-list declined are a note, and nothing is stuck', () => {
    const denied = [{ kind: 'recipient', value: '0xab', by: 'ann', reason: 'sanctions', at: at - 1_000 }] as const
    const rows = causes({
      settings: read({ ...noSettings, denied }),
      declined: [transfer('a', { state: 'declined', code: 'RECIPIENT_DENIED' })],
    })
    expect(rows).toMatchObject([
      {
        code: 'DENIED',
        count: 1,
        examples: ['a'],
        next: ['portage settings', 'portage allow recipient 0xab --reason "<text>"', 'portage transfer retry a --reason "<text>"'],
      },
    ])
    expect(isStuck(rows)).toBe(false)
  })
})

test('texts of strangers are one printable line', () => {
  const paused = { kind: 'operator', reason: '\u001b[2Jgone\n<script>', by: 'eve' } as const
  const [row] = causes({
    lanes: [laneFacts({ ledger: read(ledger({ paused })) })],
    transfers: [transfer('x\u0007y', { code: 'LANE_NONE' })],
  })
  expect(row?.what).toBe('The lane is paused by eve:  [2Jgone <script>')
  expect(row?.examples).toEqual(['x y'])
})

test('every answer fits the schema of the API', () => {
  const rows = causes({ chains: [chain({ nodes: nodes(undefined) })], transfers: [transfer('a')], lanes: [laneFacts({ queue: unpolled })] })
  expect(causeReportSchema.parse({ asOf: new Date(at).toISOString(), stuck: isStuck(rows), causes: rows }).causes).toEqual(rows)
})
