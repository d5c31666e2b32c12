import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { SharedCalls } from '../../bridges/port.ts'
import { scriptedChain } from './scripted-chain.ts'
import { acquire, type AcquireDeps } from '../../activities/transfer/acquire-nonce.ts'
import { type ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { noSettings, type Settings } from '../../domain/settings/settings.ts'
import type { Terms } from '../../domain/transfer/transfer.ts'
import type { PendingTransaction } from '../../lanes/transaction/pending-transaction.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { bridgesWith, fakeDelivery, fakeEndpoint, fakeParties } from './fake-bridge.ts'
import { callHash } from '../../lanes/deps.ts'
import type { BroadcastInput } from '../../temporal/contracts/transfer-steps.ts'

const lane = laneId('evm', 1, `0x${'11'.repeat(20)}`)
const recipient = `0x${'33'.repeat(20)}`
const intent = { to: `0x${'22'.repeat(20)}`, data: '0x12345678', value: '0' }

interface Now {
  block: string
  delivered: boolean
  settings: Settings
}

function setting(attempt: number, meanwhile: (now: Now) => void, terms?: Terms) {
  const now: Now = { block: '0xaa', delivered: false, settings: noSettings }
  const seen = { looks: 0, asked: 0, givenBack: 0, offered: 0 }
  const pending = { nonce: 7, unsigned: true } as PendingTransaction
  const agent: AcquireDeps['agent'] = {
    find: async () => ({ kind: 'refused', why: 'none', detail: 'the intent has no nonce' }),
    async acquire() {
      seen.asked++
      meanwhile(now)
      return { kind: 'acquired', pending }
    },
    release: async () => (seen.givenBack++, true),
  }
  const endpoint = fakeEndpoint({
    batches: { largest: 20 } as SharedCalls,
    delivery: fakeDelivery({ call: async () => intent, parties: { ...fakeParties, recipient } }),
    async delivered() {
      seen.looks++
      return now.delivered
    },
  })
  const deps: AcquireDeps = {
    agent,
    bridges: bridgesWith(endpoint),
    chain: scriptedChain(() => now.block),
    settings: () => now.settings,
    batchRouting: {
      find: async () => undefined,
      driven: () => undefined,
      enqueue: async () => (seen.offered++, { kind: 'alone' }),
    },
  }
  const transfer = { ...nativeTransfer(), ...(terms && { terms }) }
  const input: BroadcastInput = {
    lane,
    intentId: 'transfer-1/1',
    transfer,
    callHash: callHash(intent),
    gasLimit: '100000',
    maxFee: '2',
    tip: '1',
    mode: 'new',
    priority: 3,
  }
  const info = { attempt, currentAttemptScheduledTimestampMs: Date.now(), heartbeatTimeoutMs: 10_000 }
  const context = { cancellationSignal: new AbortController().signal, info }
  return { got: () => acquire(deps, input, context), now, seen }
}

describe('A nonce from a ledger that has forgotten what it gave', () => {
  test('a nonce goes back unsigned if the call of an earlier try is in a new block', async () => {
    const { got, seen } = setting(2, (now) => Object.assign(now, { block: '0xbb', delivered: true }))
    expect(await got()).toEqual({ kind: 'seen' })
    expect(seen).toMatchObject({ looks: 2, givenBack: 1 })
  })

  test('a nonce is used if the new block has no call of an earlier try', async () => {
    const { got, seen } = setting(2, (now) => Object.assign(now, { block: '0xbb' }))
    expect(await got()).toMatchObject({ kind: 'acquired' })
    expect(seen).toMatchObject({ looks: 2, givenBack: 0 })
  })

  test.each([
    [2, 'no block has come since the last look', 1],
    [1, 'nothing was sent before', 0],
  ])('the effect is not read again (try %i): %s', async (attempt, _, looks) => {
    const { got, seen } = setting(attempt, (now) => Object.assign(now, { block: attempt === 1 ? '0xbb' : '0xaa' }))
    expect(await got()).toMatchObject({ kind: 'acquired' })
    expect(seen).toMatchObject({ looks, givenBack: 0 })
  })
})

/** From now on, the process has run for `passedMs` longer, and its wall clock is a day behind. */
function setClockBack(passedMs: number): void {
  const [passed, wall] = [performance.now() + passedMs, Date.now() - 86_400_000]
  vi.spyOn(performance, 'now').mockReturnValue(passed)
  vi.spyOn(Date, 'now').mockReturnValue(wall)
  onTestFinished(() => void vi.restoreAllMocks())
}

test.each([
  [7_000, 0],
  [9_000, 1],
])('after a clock is set back, an old read of the effect is as old as before: %i ms, %i reads', async (ms, looks) => {
  const { got, seen } = setting(1, () => setClockBack(ms))
  expect(await got()).toMatchObject({ kind: 'acquired' })
  expect(seen).toMatchObject({ looks })
})

test('a read of the effect grows old while the machine is suspended', async () => {
  const { got, seen } = setting(1, () => {
    const [passed, wall] = [performance.now(), Date.now() + 9_000]
    vi.spyOn(performance, 'now').mockReturnValue(passed)
    vi.spyOn(Date, 'now').mockReturnValue(wall)
    onTestFinished(() => void vi.restoreAllMocks())
  })
  expect(await got()).toMatchObject({ kind: 'acquired' })
  expect(seen).toMatchObject({ looks: 1 })
})

test('a process whose clock is hours behind does not trust the read of the admission', async () => {
  const { got, seen } = setting(1, () => {})
  setClockBack(0)
  expect(await got()).toMatchObject({ kind: 'acquired' })
  expect(seen).toMatchObject({ looks: 1 })
})

test.each<[Terms | undefined, number]>([
  [undefined, 1],
  [{ lane }, 1],
  [{ maxFeePerGas: '5' }, 0],
  [{ maxFeePerTransaction: '5' }, 0],
])('a transfer with a fee limit of its own shares no call (%j)', async (terms, offered) => {
  const { got, seen } = setting(1, () => {}, terms)
  expect(await got()).toMatchObject({ kind: 'acquired' })
  expect(seen.offered).toBe(offered)
})

describe('A recipient that is denied after the admission', () => {
  const rule = { kind: 'recipient', value: recipient, by: 'an operator', reason: 'a test', at: 0 } as const
  const denied: Settings = { ...noSettings, denied: [rule] }
  const declinedLater = { kind: 'no-slot', code: 'RECIPIENT_DENIED', reason: `recipient ${recipient} was denied by an operator: a test` }

  test('a transfer whose recipient was denied before the wait for a nonce gets no nonce', async () => {
    const { got, now, seen } = setting(1, () => {})
    now.settings = denied
    expect(await got()).toEqual(declinedLater)
    expect(seen).toMatchObject({ asked: 0 })
  })

  test('if the recipient is denied during the wait for a nonce, nothing is signed and the nonce goes back', async () => {
    const { got, seen } = setting(1, (now) => void (now.settings = denied))
    expect(await got()).toEqual(declinedLater)
    expect(seen).toMatchObject({ asked: 1, givenBack: 1 })
  })
})

test('a call that the key holds back because of a halt waits without a nonce; other refusals are thrown', async () => {
  const refusing = (code: ErrorCode) =>
    setting(1, () => {
      throw new RelayerError(code, { detail: 'halted by ops: a test' })
    })
  expect(await refusing('HALTED').got()).toEqual({ kind: 'no-slot', code: 'HALTED', reason: 'halted by ops: a test' })
  await expect(refusing('CALL_UNJUSTIFIED').got()).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
})
