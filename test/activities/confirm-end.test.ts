import { describe, expect, test } from 'vitest'
import { createConfirmEnd, type EndDeps } from '../../activities/transfer/confirm-end.ts'
import type { Chain } from '../../chains/port.ts'
import type { LedgerNonces } from '../../lanes/ledger/keyless-requests.ts'
import type { LaneNonce } from '../../temporal/contracts/transfer-steps.ts'
import { scriptedChain } from './scripted-chain.ts'
import { onEveryChain } from '../helpers/on-every-chain.ts'

const lane = `evm-1:0x${'aa'.repeat(20)}`
const transfer = {
  bridge: 'b',
  targetChain: 'bsc',
  sourceChain: 'x',
  sourceId: 'x',
  emitter: 'e',
  sequence: '1',
  digest: '0x',
  message: '',
}

/** `word`: the ledger's answer. `agreed`: the account's count of used nonces, according to most nodes. */
function ending(word: Partial<LedgerNonces>, { agreed = 5, pending = 5, left = [] as LaneNonce[], cancelledAt = 0 } = {}) {
  const asked = { agreed: 0, pending: 0, reports: 0 }
  const reads: Partial<Chain> = {
    blockTimeMs: 1_000,
    agreedNonce: () => (asked.agreed++, Promise.resolve(agreed)),
    pendingNonce: () => (asked.pending++, Promise.resolve(pending)),
  }
  const endpoint = { delivered: () => Promise.resolve(false), findDelivery: () => Promise.resolve(undefined) }
  const confirmEnd = createConfirmEnd({
    chains: new Map([
      [
        'bsc',
        Object.assign(
          scriptedChain(() => '0x01'),
          reads,
        ),
      ],
    ]),
    bridges: new Map([['b', { endpoints: onEveryChain(endpoint) }]]),
    heldNonces: () => Promise.resolve([{ lane, nonces: [], owners: [], finalized: 0, isNew: false, knowsAll: true, ...word }]),
    withdraw: () => Promise.resolve({ kind: 'free' }),
    requestReport: () => (asked.reports++, Promise.resolve()),
  } as unknown as EndDeps)
  return { asked, answer: () => confirmEnd({ transfer, intentId: 'w/1', nonces: left, cancelledAt }) }
}

describe('before a transfer ends of which no nonce is known', () => {
  test('after a new ledger a transfer is held while a pool has transactions of the lane', async () => {
    const held = { kind: 'held', nonces: [{ lane }] }
    expect(await ending({ knowsAll: false }, { pending: 6 }).answer()).toEqual(held)
    expect(await ending({ knowsAll: false, finalized: 5 }, { pending: 6, left: [{ lane }] }).answer()).toEqual(held)
    expect(await ending({ knowsAll: false, nonces: [3] }, { pending: 6 }).answer()).toEqual(held)
  })

  test("a transfer is held while its lane's new ledger fills nonces that may be in a pool", async () => {
    expect(await ending({ knowsAll: false, inherited: 5 }).answer()).toEqual({ kind: 'held', nonces: [{ lane, nonce: 5 }] })
    expect(await ending({ knowsAll: false, inherited: 4 }).answer()).toEqual({ kind: 'free' })
    const earlier = { left: [{ lane, nonce: 2 }] }
    expect(await ending({ knowsAll: false, inherited: 5 }, earlier).answer()).toEqual({ kind: 'held', nonces: [{ lane, nonce: 5 }] })
  })

  test('a transfer is held until a process has reported the account of its lane to the new ledger', async () => {
    const unsynced = { knowsAll: false, isNew: true }
    expect(await ending(unsynced, { left: [{ lane }] }).answer()).toEqual({ kind: 'held', nonces: [{ lane }] })
    expect(await ending(unsynced).answer()).toEqual({ kind: 'free' })
  })

  test('a cancelled transfer is held until each used lane has reported its account since the order', async () => {
    const held = { kind: 'held', nonces: [{ lane }] }
    const at = Date.now()
    for (const knowsAll of [true, false]) {
      expect(await ending({ knowsAll, reportedAt: at - 1 }, { cancelledAt: at }).answer()).toEqual(held)
      expect(await ending({ knowsAll, reportedAt: at }, { cancelledAt: at }).answer()).toEqual({ kind: 'free' })
      expect(await ending({ knowsAll, reportedAt: 0 }, { agreed: 0, pending: 0, cancelledAt: at }).answer(), 'unused').toEqual({
        kind: 'free',
      })
      expect(await ending({ knowsAll, reportedAt: 0 }).answer(), 'no order').toEqual({ kind: 'free' })
      expect(await ending({ knowsAll }, { cancelledAt: at }).answer(), 'nobody reports').toEqual({ kind: 'free' })
      expect(await ending({ knowsAll, reportedAt: 0 }, { cancelledAt: at - 25 * 3_600_000 }).answer(), 'a day later').toEqual({
        kind: 'free',
      })
    }
    const other = { left: [{ lane, nonce: 2 }], cancelledAt: at }
    expect(await ending({ knowsAll: true, reportedAt: 0 }, other).answer(), 'another nonce is final').toEqual(held)
  })

  test('a report is requested once, and only of a lane that the cancel waits for', async () => {
    const reports = async (word: Partial<LedgerNonces>, cancelledAt = Date.now()) => {
      const { asked, answer } = ending(word, { cancelledAt })
      await answer()
      return asked.reports
    }
    expect(await reports({ reportedAt: 0 })).toBe(1)
    expect(await reports({ reportedAt: 0, isNew: true }), 'the ledger is unsynced already').toBe(0)
    expect(await reports({ reportedAt: Date.now() + 1_000 })).toBe(0)
    expect(await reports({ reportedAt: 0 }, 0)).toBe(0)
    expect(await reports({ reportedAt: 0, nonces: [7] }), 'the cancel waits for a known nonce').toBe(0)
  })

  test('a transfer is free once all nonces of the lane are final', async () => {
    expect(await ending({ knowsAll: false }).answer()).toEqual({ kind: 'free' })
  })

  test('a ledger that knows all needs no read of the chain', async () => {
    const { asked, answer } = ending({}, { pending: 6 })
    expect(await answer()).toEqual({ kind: 'free' })
    expect(asked).toEqual({ agreed: 0, pending: 0, reports: 0 })
  })
})
