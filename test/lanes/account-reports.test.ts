import { expect, test, vi } from 'vitest'
import type { Account, HeadEvent } from '../../chains/port.ts'
import type { LaneView, Observation } from '../../domain/lane/messages.ts'
import { AccountObserver } from '../../lanes/account/account-observer.ts'
import type { PendingTransactions } from '../../lanes/account/pending-transactions.ts'
import type { LaneDeps } from '../../lanes/deps.ts'
import type { NonceRequests } from '../../lanes/ledger/nonce-requests.ts'
import { silentLogger } from '../../observability/logger.ts'
import { fakeTime } from '../helpers/fake-time.ts'

fakeTime(0)

/**
 * An idle lane whose ledger answers with `view`. Each call of the returned function makes 20 blocks and returns the
 * reports.
 */
function setting(view: Partial<LaneView>, signed?: number | Error, limits: number[] = []) {
  const reports: Observation[] = []
  let height = 100
  let onBlock: (event: HeadEvent) => void = () => {}
  const account = async (): Promise<Partial<Account>> => {
    return { latestNonce: 5, finalizedNonce: 5, balance: '900', block: { height, hash: `0x${height}` } }
  }
  const heads = { subscribe: (listener: typeof onBlock) => ((onBlock = listener), () => {}) }
  const ledger = {
    view: { synced: true, next: 5, inFlight: 0, ...view },
    introduce: async () => {},
    query: async () => {},
    observe: (seen: Observation) => reports.push(seen),
  }
  const chain = { heads, account, pendingNonce: async () => 5 }
  const signedBelow = (limit: number) => (limits.push(limit), signed instanceof Error ? Promise.reject(signed) : Promise.resolve(signed))
  const config = { lane: 'evm-1:0xa', window: 3, fillAfterBlocks: 4 }
  const transactions = { size: 0, claims: [], onAccount: () => {}, sweep: () => {} } as unknown as PendingTransactions
  const requests = { waiting: 0, onAccount: () => {}, onReported: () => {} } as unknown as NonceRequests
  new AccountObserver({ chain, ledger, signedBelow, config, logger: silentLogger() } as unknown as LaneDeps, transactions, requests).start()
  return async () => {
    height += 20
    onBlock({ applied: [], rolledBack: [], latest: { height, hash: `0x${height}` }, finalized: height } as unknown as HeadEvent)
    await vi.advanceTimersByTimeAsync(0)
    return reports
  }
}

const minutes = (count: number) => vi.advanceTimersByTime(count * 60_000)

test('an idle lane without funds reports every ten minutes: only then its ledger forgets a call', async () => {
  const after = setting({ closed: { why: 'funds', detail: 'balance 900 wei, needed 1000 wei' } })
  const first = (await after()).length
  minutes(9.9)
  expect(await after()).toHaveLength(first)
  minutes(0.1)
  expect(await after()).toHaveLength(first + 1)
  expect(await after()).toHaveLength(first + 1)
})

test('a clock that is set back does not delay the report of a lane without funds', async () => {
  const after = setting({ closed: { why: 'funds', detail: 'balance 900 wei, needed 1000 wei' } })
  const first = (await after()).length
  vi.setSystemTime(Date.now() - 86_400_000)
  minutes(10)
  expect(await after()).toHaveLength(first + 1)
})

test('an idle lane with funds reports nothing without news', async () => {
  const after = setting({})
  const first = (await after()).length
  minutes(60)
  expect(await after()).toHaveLength(first)
})

const isNew = { synced: false }

test.each([
  ['none', isNew, undefined, 5],
  ['one that the pool shows', isNew, 4, 5],
  ['one that the pool hides behind a missing nonce', isNew, 7, 8],
  ['one that a restored ledger has forgotten', {}, 7, 8],
  ['one that the ledger knows', { next: 8 }, 7, 8],
])('the first report of a process counts signed nonces as used: %s', async (_, view, signed, pending) => {
  const [first] = await setting(view, signed)()
  expect(first?.pending).toBe(pending)
})

test('signed nonces of a chain that was replaced, which are above the largest window, do not count', async () => {
  const limits: number[] = []
  await setting(isNew, undefined, limits)()
  expect(limits).toContain(5 + 128)
})

test('a new ledger gets no report before the record of signed nonces can be read', async () => {
  expect(await setting(isNew, new Error('unreadable'))()).toEqual([])
})
