import { expect, test } from 'vitest'
import type { LaneState } from '../../../domain/lane/lane.ts'
import { newNotifier } from '../../../domain/notification/notifier.ts'
import { type Settings, noSettings } from '../../../domain/settings/settings.ts'
import { initialStream } from '../../../domain/stream/reducer.ts'
import type { StreamState } from '../../../domain/stream/stream.ts'
import { explain } from '../../../operations/causes/explain.ts'
import type { Facts, TransferFacts } from '../../../operations/causes/facts.ts'
import { causeSchema } from '../../../operations/causes/schema.ts'
import { at, chain, config, facts, followed, lane, laneFacts, ledger, nodes, read, transfer } from './facts.ts'

const other = 'evm-1397:0x8617e340b3d01fa5f11f306f4090fd50e238070d'
const stream = 'wormhole-token-bridge:wormhole-2:00'
const order = { by: 'ann', reason: 'a look', at: at - 90_000 }

/** Values that no field of a state may have, each in a way of its own. */
const junk: readonly unknown[] = [null, 'x', 9e15, [], {}, [null], { toString: 1 }, '__proto__']

/** The value with each of its fields, at any depth, replaced by each junk value. */
function* forged(value: unknown): Generator {
  yield* junk
  if (typeof value !== 'object' || value === null) return
  for (const [name, field] of Object.entries(value)) {
    const put = (one: unknown) => (Array.isArray(value) ? value.with(Number(name), one) : { ...value, [name]: one })
    for (const one of forged(field)) yield put(one)
  }
}

const attempt = { kind: 'call', gasLimit: '21000', maxFee: '2000000000', tip: '1' } as const
const entry = { nonce: 5, grantedTo: 'a', maybeSent: true, sinceBlock: 900, claimedBlock: 990, attempts: [attempt] }
const stuckLane: LaneState = ledger({ next: 6, entries: { 5: entry }, externalAt: at - 60_000 })
const closedLane: LaneState = ledger({
  paused: { kind: 'operator', reason: 'a look', by: 'ops' },
  broke: { detail: 'balance 1 wei', cost: '2000000000000000000000', at },
  orders: [{ ...order, kind: 'pause' }],
})
const troubled: StreamState = {
  ...initialStream({ stream, origin: '2/00', first: '0', maxOpen: 1 }),
  next: '9',
  cursor: { height: 3, hash: '0x03' },
  gaps: [{ from: '3', to: '4', state: 'unstarted', code: 'NODE_UNAVAILABLE', chain: 'bsc', at: at - 60_000 }],
  open: [{ number: '2' }],
  fork: { height: 7, known: '0x07', shown: '0x08', at: at - 60_000 },
  vanished: { upTo: '7', height: 7, at: at - 60_000 },
  distrusted: { number: '99', by: 'ann', at: at - 60_000 },
  unknownCompletions: [['7', '8']],
  missedBySpy: { from: '5', to: '6', since: at - 60_000 },
  updatedAt: at - 3_600_000,
}
const pausedStream: StreamState = { ...troubled, paused: order }
const settings: Settings = {
  ...noSettings,
  halts: [{ scope: { chain: 'bsc' }, ...order }],
  denied: [{ kind: 'recipient', value: '0xab', ...order }],
  fees: [{ scope: { kind: 'chain', chain: 'former' }, policy: { maxTip: '1' } }],
}

const spies = [{ address: 'spy:1', bridge: 'wormhole-token-bridge', asOf: at, kept: 0, unknownSets: 0 }]
const honestLane = laneFacts({ lane: other, ledger: read(ledger({ synced: false })) })
const honestStream = {
  stream: `${stream}0`,
  state: read({ ...initialStream({ stream, origin: '2/00', first: '0', maxOpen: 1 }), paused: order }),
}
const declined: TransferFacts[] = [transfer('d', { state: 'declined', code: 'RECIPIENT_DENIED' })]

/** Facts with one forged state among honest ones. */
const around: Readonly<Record<string, readonly [unknown, (state: never) => Partial<Facts>]>> = {
  'a stuck lane': [stuckLane, (state) => ({ lanes: [laneFacts({ ledger: read(state) }), honestLane], streams: [honestStream] })],
  'a closed lane': [closedLane, (state) => ({ lanes: [laneFacts({ ledger: read(state) }), honestLane], streams: [honestStream] })],
  'a stream': [troubled, (state) => ({ lanes: [honestLane], streams: [{ stream, state: read(state) }, honestStream], spies })],
  'a paused stream': [pausedStream, (state) => ({ lanes: [honestLane], streams: [{ stream, state: read(state) }, honestStream], spies })],
  'the settings': [settings, (state) => ({ settings: read(state), declined, lanes: [honestLane], streams: [honestStream] })],
}

test.each(Object.keys(around))('a forged state of %s fails no report, and hides no row of another lane or stream', (name) => {
  const [honest, of] = around[name]!
  let count = 0
  for (const state of forged(honest)) {
    const causes = explain(facts(of(state as never)), config)
    for (const cause of causes) expect(causeSchema.safeParse(cause).error).toBeUndefined()
    const rows = causes.map(({ code, where }) => `${code} ${where.id}`)
    expect(rows, JSON.stringify(state)).toEqual(expect.arrayContaining([`LANE_UNSYNCED ${other}`, `STREAM_PAUSED ${stream}0`]))
    count += 1
  }
  expect(count).toBeGreaterThan(200)
})

test('a forged stream does not hide that the intake or a spy is silent for another stream', () => {
  const native = 'native-bridge:ethereum:bsc'
  const chains = [chain({ chain: 'ethereum' }), chain()]
  const silent = { ...followed, state: read({ ...followed.state.value, updatedAt: at - 3_600_000 }) }
  const missing = {
    stream: `${stream}0`,
    state: read({ ...honestStream.state.value, missedBySpy: { from: '3', to: '4', since: at - 9_000 } }),
  }
  for (const [name, value] of [...forged({ updatedAt: 1, missedBySpy: troubled.missedBySpy })].flatMap((one) =>
    Object.entries(Object(one)),
  )) {
    const lies = [native, stream].map((one) => ({ stream: one, state: read({ ...troubled, [name]: value }) }))
    const codes = explain(facts({ chains, streams: [...lies, silent, missing], spies }), config).map(({ code }) => code)
    expect(codes, JSON.stringify([name, value])).toEqual(expect.arrayContaining(['INTAKE_SILENT', 'SPY_SILENT']))
  }
})

test('an explainer that throws becomes a row that names it', () => {
  const broken = {} as never
  const lanes = [laneFacts({ ledger: read(broken) })]
  const streams = [{ stream, state: read(broken) }]
  const rows = explain(facts({ lanes, streams, settings: read({ halts: 7 } as never) }), config)
  expect(rows.filter(({ code }) => code === 'UNREAD').map(({ where, what }) => [where.id, what])).toEqual([
    ['the halts', "Could not be explained: the halts. TypeError: Cannot read properties of undefined (reading 'map')"],
    ['the intake', expect.stringContaining('Could not be explained: the intake. ')],
    [`the lane ${lane}`, expect.stringContaining(`Could not be explained: the lane ${lane}. `)],
    ['the names in the settings', expect.anything()],
    [`the stream ${stream}`, expect.stringContaining(`Could not be explained: the stream ${stream}. `)],
  ])
})

test("a gap of a forged stream does not spoil the row of the chain that the gap's code names", () => {
  const gaps = [{ ...troubled.gaps[0]!, from: { toString: 1 } as never, to: '9' }]
  const streams = [{ stream, state: read({ ...troubled, gaps }) }]
  const rows = explain(facts({ streams, chains: [chain({ nodes: nodes(undefined) })] }), config)
  expect(rows.map(({ code }) => code)).toEqual(expect.arrayContaining(['CHAIN_UNREACHABLE', 'UNREAD']))
})

test('a receiver whose notifier has forged values does not hide the other receivers', () => {
  const queue = read({ isPolled: true, waiting: 0, waitingMs: 0 })
  const good = { receiver: 'good', queue, notifier: read({ ...newNotifier(at - 60_000), disabled: { ...order, why: 'ordered' as const } }) }
  const receivers = [{ receiver: 'bad', queue, notifier: read({ disabled: { at: 'x', why: 'gone' } } as never) }, good]
  expect(explain(facts({ receivers }), config).map(({ code, where }) => [code, where.id])).toEqual(
    expect.arrayContaining([
      ['RECEIVER_DISABLED', 'good'],
      ['UNREAD', 'the receiver bad'],
    ]),
  )
})
