import { MockActivityEnvironment } from '@temporalio/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { withHeartbeats } from '../../activities/run-step.ts'
import { createBroadcast } from '../../activities/transfer/broadcast.ts'
import { createPrepare } from '../../activities/transfer/admit.ts'
import type { Endpoint, Parties, SharedCalls } from '../../bridges/port.ts'
import { errorCatalogue } from '../../domain/catalogue/errors.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { createLossReports, Losses } from '../../activities/checks/losses.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { callHash } from '../../lanes/deps.ts'
import type { BroadcastInput, BroadcastResult } from '../../temporal/contracts/transfer-steps.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { bridgesWith, fakeDelivery, fakeEndpoint, fakeParties } from './fake-bridge.ts'
import { inItsRun } from './its-run.ts'
import { scriptedChain } from './scripted-chain.ts'
import { recordingLogger } from '../helpers/recording-logger.ts'

const lane = laneId('evm', 1, `0x${'11'.repeat(20)}`)
const wrappedCall = { to: `0x${'22'.repeat(20)}`, data: '0x87654321', value: '0' }
const call = { to: `0x${'22'.repeat(20)}`, data: '0x12345678', value: '0' }

/**
 * Every call succeeds in simulation and ends with `status` in a block. Transfers with a sequence below 10 share one
 * recipient, and all others share a second one. `batched`: numbers of one batch. `unwraps`: `call` runs code of the
 * recipient, and `wrappedCall` runs none. `codeOf`: recipients that have code now. `codeThen`: recipients that have
 * code at the delivery.
 */
function setting({
  status = 'reverted',
  final = false,
  batched = [],
  unwraps = false,
  codeOf = [],
  codeThen = codeOf,
  partiesOf = ({ sequence }) => ({ recipient: Number(sequence) < 10 ? 'eve' : 'bob', token: 'weth' }),
  ...own
}: Partial<Endpoint> & {
  status?: 'reverted' | 'success'
  final?: boolean
  batched?: readonly number[]
  unwraps?: boolean
  codeOf?: readonly string[]
  codeThen?: readonly string[]
  partiesOf?: (transfer: Transfer) => Pick<Parties, 'recipient' | 'token'>
} = {}) {
  const signed: number[] = []
  const metrics = createMetrics()
  const { logger, lines } = recordingLogger()
  const endpoint = fakeEndpoint({
    batches: { largest: 20 } as SharedCalls,
    delivery: (transfer) =>
      fakeDelivery({
        call: async (payout) => (unwraps && payout ? wrappedCall : call),
        parties: { ...fakeParties, ...partiesOf(transfer) },
      })(transfer),
    delivered: async () => false,
    hasEffect: () => false,
    ...own,
  })
  const hasCode = async (account: string, during?: number) => (during === 1 ? codeThen : codeOf).includes(account)
  const chain = { ...scriptedChain(() => '0xaa'), hasCode, msToFinality: () => 900_000 }
  const agent = {
    find: async () => ({ kind: 'refused', why: 'none', detail: '' }),
    justify: async () => {},
    release: async () => {},
    acquire: async () => {
      const nonce = signed.length
      return { kind: 'acquired', pending: pendingOf(nonce) }
    },
  }
  function pendingOf(nonce: number) {
    const receipt = {
      hash: `0x${nonce}`,
      from: '0x11',
      status,
      gasUsed: '100',
      effectiveGasPrice: '2',
      block: { height: 1, hash: '0xaa' },
      logs: [],
    }
    const state = { kind: 'included', final, noop: false, receipt }
    const signAndSend = async () => void signed.push(nonce)
    return { nonce, unsigned: true, attempts: 1, tried: [], state, signAndSend, until: async () => true }
  }
  const enqueued: string[] = []
  const retries: (number | undefined)[] = []
  const batch = { id: 'batch:1', members: batched.map((number) => `transfer-${number}/1`), pending: pendingOf(99) }
  const routing = {
    find: async () => undefined,
    async enqueue({ intentId, retriedAt }: { intentId: string; retriedAt?: number }) {
      enqueued.push(intentId)
      retries.push(retriedAt)
      return batch.members.includes(intentId) ? { kind: 'member', batch } : { kind: 'alone' }
    },
  }
  const losses = new Losses(60_000, 10_000n, createLossReports({ logger, metrics }))
  const shared = { bridges: bridgesWith(endpoint), settings: () => noSettings, losses }
  const broadcast = createBroadcast({
    ...shared,
    chain,
    agent: { ...agent, lane },
    batchRouting: routing,
  } as never)
  const cache = { statuses: async () => [{ lane, open: true }], open: async () => [lane], lanes: [lane] }
  const prepare = createPrepare({
    ...shared,
    chains: new Map([['bsc', chain]]),
    lanes: new Map([['bsc', cache]]),
    fees: () => ({}),
    abandonAfterMs: 0,
  } as never)
  return {
    signed,
    enqueued,
    retries,
    lines,
    metrics: async () =>
      (await metrics.render()).split('\n').filter((line) => /^portage_(quarantines_total|losses_wei_total)\{/.test(line)),
    prepare: (number: number, retriedAt?: number, wrapped?: boolean) =>
      inItsRun(prepare)({ transfer: nativeTransfer(number), avoid: [], wrapped, ...(retriedAt !== undefined && { retriedAt }) }),
    broadcast(number: number, retriedAt?: number, more: Partial<BroadcastInput> = {}): Promise<BroadcastResult> {
      const input: BroadcastInput = {
        ...{ lane, intentId: `transfer-${number}/1`, transfer: nativeTransfer(number), callHash: callHash(call), mode: 'new', priority: 3 },
        ...{ gasLimit: '100000', maxFee: '2', tip: '1', ...(retriedAt !== undefined && { retriedAt }) },
        ...more,
      }
      return new MockActivityEnvironment({ heartbeatTimeoutMs: 10_000 }).run(withHeartbeats(broadcast), input)
    },
  }
}

describe('A delivery that was simulated well and reverted in a block, final or not', () => {
  test('a loss quarantines its recipient: lane and admission hold back others, nothing is signed', async () => {
    const { broadcast, prepare, signed } = setting()
    expect(await prepare(1)).toMatchObject({ kind: 'ready' })
    expect(await broadcast(1)).toMatchObject({ kind: 'included' })
    expect(await broadcast(2)).toMatchObject({
      kind: 'no-slot',
      code: 'QUARANTINED',
      reason: expect.stringContaining('tried again at 2'),
      retryInMs: expect.any(Number),
    })
    expect(signed).toEqual([0])
    const waiting = await prepare(2)
    expect(waiting).toMatchObject({ kind: 'waiting', code: 'QUARANTINED', retryInMs: expect.any(Number) })
    if (waiting.kind === 'waiting') expect(Math.ceil(waiting.retryInMs / 60_000)).toBe(1)
    expect([await prepare(10), await broadcast(10)]).toMatchObject([{ kind: 'ready' }, { kind: 'included' }])
  })

  test('a clock that is set back makes no quarantine longer, and an ordered retry still ends it', async () => {
    const { broadcast, prepare } = setting()
    await broadcast(1)
    const wall = Date.now() - 86_400_000
    vi.spyOn(Date, 'now').mockImplementation(() => wall)
    onTestFinished(() => void vi.restoreAllMocks())
    const waiting = await prepare(2)
    expect(waiting).toMatchObject({ kind: 'waiting', code: 'QUARANTINED' })
    if (waiting.kind === 'waiting') expect(waiting.retryInMs).toBeLessThanOrEqual(60_000)
    expect(await prepare(2, wall - 1_000)).toMatchObject({ kind: 'waiting' })
    expect(await prepare(2, wall + 1_000)).toMatchObject({ kind: 'ready' })
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000)
    expect(await prepare(2)).toMatchObject({ kind: 'ready' })
  })

  test('a final call that succeeded without an effect is a loss, if only the state shows effects', async () => {
    const { broadcast } = setting({ status: 'success', final: true, hasEffect: () => undefined })
    expect(await broadcast(1)).toMatchObject({ kind: 'reverted', reason: expect.stringContaining('did not have the effect') })
    expect(await broadcast(2)).toMatchObject({ kind: 'no-slot', code: 'QUARANTINED' })
  })

  test('a call that is not final and whose effect is not shown yet is no loss', async () => {
    const { broadcast } = setting({ status: 'success', hasEffect: () => undefined })
    expect([await broadcast(1), await broadcast(2)]).toMatchObject([{ kind: 'included' }, { kind: 'included' }])
  })

  test('a loss is reported by one line with code, transfer, transaction and remedy, and one count', async () => {
    const { broadcast, lines, metrics } = setting()
    await broadcast(1)
    await broadcast(2)
    const id = transferId(nativeTransfer(1))
    expect(lines).toEqual([
      expect.objectContaining({ level: 'warn', message: 'a recipient is quarantined', code: 'QUARANTINED', transfer: id, txHash: '0x0' }),
    ])
    expect(lines[0]).toMatchObject({
      reason: expect.stringContaining('eve'),
      until: expect.any(String),
      remedy: errorCatalogue.QUARANTINED.remedy,
    })
    expect(await metrics()).toEqual([
      'portage_quarantines_total{chain="bsc",kind="recipient"} 1',
      'portage_losses_wei_total{chain="bsc",kind="reverted"} 200',
    ])
  })

  test('losses quarantine their token once they exceed the budget, which is logged once', async () => {
    const { broadcast, metrics, prepare, lines } = setting({ partiesOf: ({ sequence }) => ({ recipient: sequence, token: 'weth' }) })
    for (let number = 1; number <= 51; number++) await broadcast(number)
    expect(await prepare(100)).toMatchObject({ kind: 'waiting', code: 'QUARANTINED', reason: expect.stringContaining('weth') })
    expect(await metrics()).toContain('portage_quarantines_total{chain="bsc",kind="token"} 1')
    expect(lines.filter(({ message }) => message === 'a token is quarantined')).toHaveLength(1)
  })

  test('a loss is not counted if reads fail, which is logged', async () => {
    const { broadcast, prepare, lines } = setting({
      delivered: async (_, at) => (at === 'latest' ? false : Promise.reject(new Error('away'))),
    })
    await broadcast(1)
    expect(await prepare(2)).toMatchObject({ kind: 'ready' })
    expect(lines).toMatchObject([
      { level: 'warn', transfer: transferId(nativeTransfer(1)), txHash: '0x0', reason: expect.stringContaining('away') },
    ])
  })

  test('an operator may retry a quarantined transfer at once', async () => {
    const { broadcast, prepare, signed, retries } = setting()
    await broadcast(1)
    const later = Date.now() + 1
    expect([await prepare(1, later), await broadcast(1, later)]).toMatchObject([{ kind: 'ready' }, { kind: 'included' }])
    expect(signed).toEqual([0, 1])
    // A retry lifts only earlier quarantines. The batch checks quarantines again when it builds its call.
    expect(retries).toEqual([undefined, later])
  })

  test.each<[string, Parameters<typeof setting>[0]]>([
    ['another has delivered', { delivered: async (_, at) => at === 'agreed-latest' }],
    ['it did not revert', { status: 'success' }],
    ['no node can say', { delivered: async (_, at) => (at === 'latest' ? false : Promise.reject(new Error('away'))) }],
  ])('a delivery does not count as a loss where %s', async (_, own) => {
    const { prepare, broadcast } = setting(own)
    expect(await broadcast(1)).toMatchObject({ kind: 'included' })
    expect(await prepare(2)).toMatchObject({ kind: 'ready' })
  })

  test('a loss does not count if the gate of the bridge has closed', async () => {
    const gate = { isOpen: true }
    const paused = { kind: 'route', code: 'BRIDGE_PAUSED', reason: 'paused' } as const
    const { prepare, broadcast } = setting({
      reserve: async () => (gate.isOpen ? { kind: 'open' } : paused),
      async delivered(_, at) {
        if (at === 'agreed-latest') gate.isOpen = false
        return false
      },
    })
    expect(await broadcast(1)).toMatchObject({ kind: 'included' })
    gate.isOpen = true
    expect(await prepare(2)).toMatchObject({ kind: 'ready' })
  })
})

describe('A token that unwraps', () => {
  const partiesOf = ({ sequence }: Transfer) => ({ recipient: sequence, token: 'weth' })
  const contracts = Array.from({ length: 100 }, (_, index) => String(index))

  test('reverting contracts stop nobody else: contracts get the wrapped token, and none of their code runs', async () => {
    const { broadcast, prepare, lines } = setting({ unwraps: true, partiesOf, codeOf: contracts })
    for (let number = 1; number <= 51; number++) await broadcast(number)
    expect(lines.at(-1)).toMatchObject({ message: 'a token is quarantined', reason: expect.stringContaining('weth to contracts') })
    expect([await prepare(1), await prepare(99)]).toMatchObject([{ callHash: callHash(wrappedCall) }, { callHash: callHash(wrappedCall) }])
    expect([await prepare(100)]).toMatchObject([{ kind: 'ready', callHash: callHash(call) }])
    expect(await broadcast(99)).toMatchObject({ kind: 'no-slot', code: 'QUARANTINED' })
    expect(await broadcast(99, undefined, { callHash: callHash(wrappedCall) })).toMatchObject({ kind: 'included' })
    expect(await broadcast(100)).toMatchObject({ kind: 'included' })
  })

  test('contracts that revert without unwrapping make contracts of their token wait, and nobody else', async () => {
    const { broadcast, prepare } = setting({ partiesOf, codeOf: contracts })
    for (let number = 1; number <= 51; number++) await broadcast(number)
    expect(await prepare(99)).toMatchObject({ kind: 'waiting', code: 'QUARANTINED' })
    expect(await prepare(100)).toMatchObject({ kind: 'ready' })
  })

  test('a contract that removes its code after the revert does not make recipients without code wait', async () => {
    const { broadcast, prepare } = setting({ partiesOf, codeThen: contracts })
    for (let number = 1; number <= 51; number++) await broadcast(number)
    expect(await prepare(100)).toMatchObject({ kind: 'ready' })
  })

  test('a transfer whose delivery reverted is paid the token, in any process', async () => {
    const { prepare } = setting({ unwraps: true })
    expect(await prepare(1)).toMatchObject({ callHash: callHash(call) })
    expect(await prepare(1, undefined, true)).toMatchObject({ callHash: callHash(wrappedCall) })
  })
})

test('if other accounts deliver first, the lost gas counts; above the budget, Portage waits a minute', async () => {
  const { broadcast, prepare, metrics } = setting({ delivered: async (_, at) => at === 'agreed-latest' })
  for (let number = 1; number <= 51; number++) await broadcast(number)
  expect(await metrics()).toEqual(['portage_losses_wei_total{chain="bsc",kind="outrun"} 10200'])
  expect(await broadcast(52, undefined, { seenAt: Date.now() })).toMatchObject({ kind: 'no-slot', code: 'OUTRUN' })
  expect(await broadcast(52, undefined, { seenAt: Date.now() - 60_000 })).toMatchObject({ kind: 'included' })
  expect(await prepare(52)).toMatchObject({ kind: 'ready' })
})

describe('A batch that was simulated well and reverted', () => {
  test('a reverted batch makes its transfers go alone, quarantines nobody, and is logged once', async () => {
    const { broadcast, prepare, enqueued, signed, lines, metrics } = setting({ batched: [1, 10] })
    expect(await Promise.all([broadcast(1), broadcast(10)])).toEqual([{ kind: 'seen' }, { kind: 'seen' }])
    expect(enqueued.splice(0).toSorted()).toEqual(['transfer-1/1', 'transfer-10/1'])
    expect(signed).toEqual([])
    expect([await prepare(1), await prepare(10)]).toMatchObject([{ kind: 'ready' }, { kind: 'ready' }])
    expect(await broadcast(1)).toMatchObject({ kind: 'included' })
    expect([signed, enqueued]).toEqual([[0], []])
    expect(await prepare(2)).toMatchObject({ kind: 'waiting', code: 'QUARANTINED' })
    expect(lines.map(({ message }) => message)).toEqual([
      'transfers are delivered alone for a while, because a batch with them reverted',
      'a recipient is quarantined',
    ])
    expect(await metrics()).toEqual([
      'portage_quarantines_total{chain="bsc",kind="batch"} 1',
      'portage_quarantines_total{chain="bsc",kind="recipient"} 1',
      'portage_losses_wei_total{chain="bsc",kind="reverted"} 400',
    ])
  })

  test('transfers go on sharing calls if another relayer explains the revert of a batch', async () => {
    const isTen = ({ sequence }: { sequence: string }) => sequence === '10'
    const { broadcast, enqueued, lines } = setting({ batched: [1, 10], delivered: async (one, at) => at === 'agreed-latest' && isTen(one) })
    expect(await broadcast(10)).toEqual({ kind: 'seen' })
    expect(await broadcast(1)).toEqual({ kind: 'seen' })
    await broadcast(1)
    expect([enqueued, lines]).toEqual([['transfer-10/1', 'transfer-1/1', 'transfer-1/1'], []])
  })
})
