import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { explain } from '../../../operations/causes/explain.ts'
import { type Facts, type NodeHead, tokenKey, type TransferFacts } from '../../../operations/causes/facts.ts'
import { type CauseCode, causeCatalogue } from '../../../domain/catalogue/catalogue.ts'
import { laneAddress, type LaneState } from '../../../domain/lane/lane.ts'
import { newNotifier, type NotifierState } from '../../../domain/notification/notifier.ts'
import { noSettings } from '../../../domain/settings/settings.ts'
import { initialStream } from '../../../domain/stream/reducer.ts'
import type { GapState, StreamState } from '../../../domain/stream/stream.ts'
import { stuckCases } from '../../../lab/stuck/cases.ts'
import { at, chain, config, facts, head, lane, laneFacts, ledger, nodes, read, transfer, unpolled, unread } from './facts.ts'

const bridge = 'wormhole-token-bridge'
const stream = `${bridge}:wormhole-2:00`
const native = 'native-bridge:ethereum:bsc'
const away = unread('TEMPORAL_UNAVAILABLE')
const order = { by: 'ann', reason: 'a look', at: at - 90_000 }

const ofLane = (state: Partial<LaneState>): Partial<Facts> => ({ lanes: [laneFacts({ ledger: read(ledger(state)) })] })
const ofNodes = (...heads: (NodeHead | undefined)[]): Partial<Facts> => ({ chains: [chain({ nodes: nodes(...heads) })] })
const waiting = (code: string, changes: Partial<TransferFacts> = {}): Partial<Facts> => ({
  transfers: [transfer('a', { code, ...changes })],
})
const ofStream = (changes: Partial<StreamState>, name = stream): Partial<Facts> => ({
  streams: [{ stream: name, state: read({ ...initialStream({ stream: name, origin: '2/00', first: '0', maxOpen: 1 }), ...changes }) }],
})
const gap = (state: GapState, more: { code?: string; chain?: string } = {}) =>
  ofStream({ next: '4', gaps: [{ from: '3', to: '3', state, at: at - 60_000, ...more }] })
const stuckNonce = (maxFee: string, sinceBlock: number) => {
  const attempt = { kind: 'call', gasLimit: '21000', maxFee, tip: '1' } as const
  return ofLane({
    next: 6,
    entries: { 5: { nonce: 5, grantedTo: 'a', maybeSent: true, sinceBlock, claimedBlock: 990, attempts: [attempt] } },
  })
}
const spy = { address: 'spy:1', bridge, asOf: at, kept: 0, unknownSets: 0 }
const wrongNode = { ...nodes(head, undefined)[1]!, head: unread('CHAIN_ID_MISMATCH') }
const { head: _, ...disabledNode } = { ...nodes(head)[0]!, node: 'node-3', isDisabled: true, isBack: true }
const ofQueue = (queue: Facts['ledger']['queue']) => ({ queue, asked: 0, answered: 0 })

const ofReceiver = (changes: Partial<NotifierState>): Partial<Facts> => ({
  receivers: [
    {
      ...{ receiver: 'books', notifier: read({ ...newNotifier(at - 60_000), recordedAt: at - 20_000, ...changes }) },
      queue: read({ isPolled: true, waiting: 0, waitingMs: 0 }),
    },
  ],
})

/** For each cause, facts that show the cause. The type demands an entry for every cause of the catalogue. */
const shown: Readonly<Record<CauseCode, Partial<Facts>>> = {
  TEMPORAL_UNAVAILABLE: { temporal: away, settings: away, ledger: ofQueue(away), chainWorkers: new Map(), lanes: [] },
  LEDGER_WITHOUT_WORKER: { ledger: ofQueue(unpolled) },
  HALTED: { settings: read({ ...noSettings, halts: [{ scope: {}, ...order }] }) },
  CHAIN_UNREACHABLE: ofNodes(undefined),
  CHAIN_WITHOUT_MAJORITY: ofNodes(head, undefined),
  CHAIN_STALLED: ofNodes({ ...head, at: at - 60_000 }),
  FINALITY_STALLED: { chains: [chain({ nodes: nodes({ ...head, finalAt: at - 2 * 3_600_000 }) })] },
  CHAIN_WITHOUT_WORKER: { chainWorkers: new Map([['bsc', ofQueue(unpolled)]]) },
  LANE_WITHOUT_WORKER: { lanes: [laneFacts({ queue: unpolled })] },
  WORKFLOW_FAILING: { failing: [{ workflow: 'settings', tries: 4 }] },
  LANE_CHAIN_REPLACED: ofLane({ replaced: { height: 7, hash: '0x07' } }),
  LANE_FUNDS: { chains: [chain({ balances: new Map([['0x52908400098527886e0f7030069857d2e4169ee7', '0']]) })] },
  LANE_TOKEN_LOW: {
    chains: [chain({ watchTokens: [{ token: '0xab', minimum: '5' }], balances: new Map([[tokenKey(laneAddress(lane), '0xab'), '4']]) })],
  },
  LANE_FORBIDDEN: ofLane({ closing: { mode: 'forbidden', reason: 'a look', by: 'ops' } }),
  LANE_PAUSED: ofLane({ paused: { kind: 'operator', reason: 'a look', by: 'ops' } }),
  LANE_DRAINING: ofLane({ closing: { mode: 'draining', reason: 'a look', by: 'ops' } }),
  LANE_WINDOW_ZERO: ofLane({ config: { ...ledger().config, window: 0 } }),
  FEE_LIMIT_REACHED: stuckNonce('900000000', 990),
  NONCE_STUCK: stuckNonce('2000000000', 900),
  LANE_UNREACHABLE: { lanes: [laneFacts({ ledger: unread('LANE_UNREACHABLE') })] },
  LANE_UNSYNCED: ofLane({ synced: false }),
  KEY_USED_ELSEWHERE: ofLane({ externalAt: at - 60_000 }),
  LANE_NONE: waiting('LANE_NONE'),
  LANE_FULL: waiting('LANE_FULL'),
  INTERNAL: waiting('INTERNAL', { state: 'parked' }),
  GUARDIAN_SET_UNKNOWN: gap('unstarted', { code: 'GUARDIAN_SET_UNKNOWN', chain: 'bsc' }),
  BRIDGE_PAUSED: waiting('BRIDGE_PAUSED'),
  BRIDGE_ROLE_MISSING: waiting('BRIDGE_ROLE_MISSING'),
  BRIDGE_POOL_EMPTY: waiting('BRIDGE_POOL_EMPTY'),
  BRIDGE_BUDGET: waiting('BRIDGE_BUDGET'),
  BRIDGE_CAP: waiting('BRIDGE_CAP', { state: 'parked' }),
  FEE_CEILING: waiting('FEE_CEILING'),
  FEE_LIMIT: waiting('FEE_LIMIT'),
  FEE_BELOW_COST: waiting('FEE_BELOW_COST'),
  DELIVERY_NOT_DUE: waiting('DELIVERY_NOT_DUE'),
  PRICE_MISSING: waiting('PRICE_MISSING'),
  PLUGIN_INVALID: waiting('PLUGIN_INVALID'),
  PLUGIN_CHANGED: waiting('PLUGIN_CHANGED'),
  PLUGIN_FAILED: waiting('PLUGIN_FAILED'),
  SIGNING_REFUSED: waiting('SIGNING_REFUSED'),
  CALL_UNJUSTIFIED: waiting('CALL_UNJUSTIFIED', { state: 'parked' }),
  SIGNER_OFFLINE: waiting('SIGNER_OFFLINE'),
  SPENDING_UNRECORDED: waiting('SPENDING_UNRECORDED', { state: 'broadcasting', tries: 3 }),
  WRAPPER_MISSING: waiting('WRAPPER_MISSING'),
  QUARANTINED: waiting('QUARANTINED'),
  NATIVE_NOT_FINAL: waiting('NATIVE_NOT_FINAL'),
  SPY_UNAVAILABLE: { spies: [{ ...spy, problem: 'ECONNREFUSED' }] },
  SPY_SILENT: { spies: [spy], ...ofStream({ missedBySpy: { from: '3', to: '4', since: at - 9_000 } }) },
  INTAKE_SILENT: { streams: [] },
  STREAM_UNREACHABLE: { streams: [{ stream, state: unread('LANE_UNREACHABLE') }] },
  STREAM_WITHOUT_SOURCE: ofStream({}, `${bridge}:wormhole-34:00`),
  STREAM_FORKED: ofStream({ fork: { height: 3, known: '0x1', shown: '0x2', at } }),
  STREAM_COUNT: ofStream({ vanished: { upTo: '2', height: 9, at } }),
  STREAM_PAUSED: ofStream({ paused: order }),
  STREAM_FULL: ofStream({
    ...{ next: '4', open: [{ number: '2' }] },
    gaps: [{ from: '3', to: '3', state: 'unasked', at: at - 60_000 }],
  }),
  STREAM_LAGS: { ...ofStream({ cursor: { height: 100, hash: '0x' } }, native), chains: [chain({ chain: 'ethereum' }), chain()] },
  GAP_UNSTARTED: gap('unstarted', { code: 'TEMPORAL_UNAVAILABLE' }),
  GAP_NOT_QUERIED: gap('unasked'),
  GAP_HIDDEN: gap('hidden'),
  GAP_UNDONE: gap('undone'),
  GAP_UNOBSERVED: gap('unobserved'),
  GAP_HELD: gap('held'),
  GAP_NOT_FINAL: gap('not-final'),
  NODE_WRONG_NETWORK: { chains: [chain({ nodes: [...nodes(head, head), wrongNode] })] },
  NODE_DOWN: ofNodes(head, head, undefined),
  NODE_LAGS: ofNodes(head, head, { ...head, height: 900 }),
  NODE_DISABLED: { chains: [chain({ nodes: [...nodes(head, head), disabledNode] })] },
  NODE_UNAVAILABLE: waiting('NODE_UNAVAILABLE'),
  NODE_REFUSED: waiting('NODE_REFUSED'),
  RECEIVER_GONE: ofReceiver({ disabled: { at, why: 'gone' } }),
  RECEIVER_UNSERVED: ofReceiver({ recordedAt: at - 600_000 }),
  RECEIVER_FAILING: ofReceiver({ failure: { since: at - 60_000, tries: 3, nextAt: at + 1_000, why: 'no connection' } }),
  RECEIVER_DISABLED: ofReceiver({ disabled: { ...order, why: 'ordered' } }),
  TRANSFERS_SLOW: waiting('', { state: 'admitting', inStateSince: at - 120_000 }),
  TRANSFERS_PARKED: waiting('', { state: 'parked' }),
  TRANSFERS_WAIT: waiting(''),
  SHADOW_MODE: waiting('SHADOW_MODE'),
  UNREAD: { unread: [{ what: 'the transfers', asOf: at, error: away.error }] },
  VERSION_INACTIVE: { version: read({ buildId: 'v2', status: 'inactive', current: 'v1' }) },
  ORDER_NAME_UNKNOWN: {
    settings: read({ ...noSettings, fees: [{ scope: { kind: 'chain', chain: 'former' }, policy: { maxTip: '1' } }] }),
  },
  DENIED: {
    settings: read({ ...noSettings, denied: [{ kind: 'recipient', value: '0xab', ...order }] }),
    declined: [transfer('a', { state: 'declined', code: 'RECIPIENT_DENIED' })],
  },
}

test.each(Object.entries(shown))('portage stuck shows the cause %s with its commands, and no other cause', (code, changes) => {
  const rows = explain(facts(changes), config)
  const own = rows.filter((row) => row.code === code)
  expect(own, JSON.stringify(rows)).toHaveLength(1)
  const { next, remedy } = causeCatalogue[code as CauseCode]
  expect(own[0]?.remedy).toBe(remedy)
  expect(own[0]?.next.length).toBe(next.length - (without[code as CauseCode] ?? 0))
  expect(rows.map((row) => row.code).filter((other) => other !== code)).toEqual(besides[code as CauseCode] ?? [])
})

/**
 * For each cause, the number of its commands that are left out because they do not help with the facts above.
 * useless-commands.test.ts shows when they help.
 */
const without: Partial<Record<CauseCode, number>> = {
  ...{ CHAIN_UNREACHABLE: 1, CHAIN_WITHOUT_MAJORITY: 1, LANE_FUNDS: 1, GAP_UNOBSERVED: 1 },
  ...{ LEDGER_WITHOUT_WORKER: 1, CHAIN_WITHOUT_WORKER: 1, NODE_WRONG_NETWORK: 1, NODE_DOWN: 1, NODE_LAGS: 1, FEE_LIMIT: 2 },
}

/** For each cause, the other causes that always appear with it. */
const besides: Partial<Record<CauseCode, readonly CauseCode[]>> = {
  CHAIN_WITHOUT_MAJORITY: ['NODE_DOWN'],
  STREAM_FULL: ['GAP_NOT_QUERIED'],
}

/** Causes that no case of lab/stuck reproduces. The list may only become shorter. */
const neverMade: readonly CauseCode[] = [
  ...(['INTAKE_SILENT', 'LANE_CHAIN_REPLACED', 'FEE_LIMIT_REACHED', 'NONCE_STUCK', 'LANE_UNREACHABLE', 'LANE_UNSYNCED'] as const),
  ...(['LANE_NONE', 'LANE_FULL', 'SIGNING_REFUSED', 'CALL_UNJUSTIFIED'] as const),
  ...(['BRIDGE_POOL_EMPTY', 'BRIDGE_BUDGET', 'NATIVE_NOT_FINAL', 'WRAPPER_MISSING', 'FEE_LIMIT'] as const),
  ...(['FEE_BELOW_COST', 'QUARANTINED', 'STREAM_UNREACHABLE', 'STREAM_FORKED', 'STREAM_COUNT'] as const),
  ...(['STREAM_FULL', 'STREAM_LAGS', 'STREAM_WITHOUT_SOURCE', 'GAP_UNSTARTED', 'GAP_HIDDEN'] as const),
  ...(['GAP_UNDONE', 'GAP_NOT_FINAL', 'RECEIVER_GONE', 'RECEIVER_UNSERVED', 'RECEIVER_FAILING'] as const),
  ...([
    'RECEIVER_DISABLED',
    'UNREAD',
    'TRANSFERS_SLOW',
    'TRANSFERS_PARKED',
    'TRANSFERS_WAIT',
    'VERSION_INACTIVE',
    'KEY_USED_ELSEWHERE',
    'SHADOW_MODE',
  ] as const),
]

test('lab/stuck makes every cause that is not on the list of exceptions', () => {
  const made = new Set<string>(stuckCases.map(({ code }) => code))
  expect(Object.keys(causeCatalogue).filter((code) => !made.has(code))).toEqual(neverMade)
})

test('docs/develop/testing.md lists the causes that lab/stuck makes, and those that it does not', () => {
  const codes = Object.keys(causeCatalogue)
  const text = readFileSync(new URL('../../../docs/develop/testing.md', import.meta.url), 'utf8')
  const made = codes.length - neverMade.length
  expect(text.replaceAll(/\s+/g, ' ')).toContain(
    `The run makes ${made} of the ${codes.length} causes of the catalogue. The run does not make these ${neverMade.length} causes: ${neverMade.map((code) => `\`${code}\``).join(', ')}.`,
  )
})
