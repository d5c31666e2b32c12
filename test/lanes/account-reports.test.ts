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
 * number of reports.
 */
function setting(view: Partial<LaneView>) {
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
  const config = { lane: 'evm-1:0xa', window: 3, fillAfterBlocks: 4 }
  const transactions = { size: 0, claims: [], onAccount: () => {}, sweep: () => {} } as unknown as PendingTransactions
  const requests = { waiting: 0, onAccount: () => {}, onReported: () => {} } as unknown as NonceRequests
  new AccountObserver({ chain, ledger, config, logger: silentLogger() } as unknown as LaneDeps, transactions, requests).start()
  return async () => {
    height += 20
    onBlock({ applied: [], rolledBack: [], latest: { height, hash: `0x${height}` }, finalized: height } as unknown as HeadEvent)
    await vi.advanceTimersByTimeAsync(0)
    return reports.length
  }
}

const minutes = (count: number) => vi.setSystemTime(Date.now() + count * 60_000)

test('an idle lane without funds reports every ten minutes: only then its ledger forgets a call', async () => {
  const after = setting({ closed: { why: 'funds', detail: 'balance 900 wei, needed 1000 wei' } })
  const first = await after()
  minutes(9.9)
  expect(await after()).toBe(first)
  minutes(0.1)
  expect(await after()).toBe(first + 1)
  expect(await after()).toBe(first + 1)
})

test('an idle lane with funds reports nothing without news', async () => {
  const after = setting({})
  const first = await after()
  minutes(60)
  expect(await after()).toBe(first)
})
