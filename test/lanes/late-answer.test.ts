import { describe, expect, test, vi } from 'vitest'
import type { Account } from '../../chains/port.ts'
import type { Entry } from '../../domain/lane/lane.ts'
import type { Ask, LaneAnswer } from '../../domain/lane/messages.ts'
import type { LaneDeps } from '../../lanes/deps.ts'
import { type NonceRequest, NonceRequests } from '../../lanes/ledger/nonce-requests.ts'
import type { PendingTransactions } from '../../lanes/account/pending-transactions.ts'
import { fakeTime } from '../helpers/fake-time.ts'

const first = { kind: 'call', gasLimit: '30000', maxFee: '5', tip: '1' } as const
const request: NonceRequest = {
  ...{ owner: { intentId: 'one/1', callHash: '0x01' }, intent: { to: '0x02', data: '0x', value: '0' } },
  ...{ first, priority: 3, source: 'test' },
}
const entry: Entry = {
  ...{ nonce: 7, owner: request.owner, grantedTo: 'x-1', maybeSent: false, sinceBlock: 0, claimedBlock: 0, attempts: [first] },
}

/** A lane agent of which only the clock and the server are faked. */
function setting() {
  const asked: Ask[] = []
  let answer = (_: LaneAnswer | undefined): void => {}
  let isStale = (): boolean => false
  const pending = { nonce: 7, intentId: 'one/1', grantedTo: 'x-1', unsigned: true }
  const ledger = {
    view: { synced: true, window: 8, next: 7, latest: 7 },
    ask: (ask: Ask, stale = () => false) => {
      asked.push(ask)
      isStale = stale
      return new Promise<LaneAnswer | undefined>((resolve) => (answer = resolve))
    },
  }
  const deps = { ledger, chain: { heads: { current: { latest: { hash: '0xaa' } } } } } as unknown as LaneDeps
  const transactions = { adopt: () => pending, drop: () => {} } as unknown as PendingTransactions
  const requests = new NonceRequests(deps, transactions)
  requests.onReported()
  const kinds = () => asked.map(({ kind }) => kind)
  return { requests, pending, ledger, kinds, isStale: () => isStale(), answer: (given?: LaneAnswer) => answer(given) }
}

const soon = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** Temporal may pause for seconds. If the call gave up, its retry would only wait for the same answer. */
describe('a call whose time ends while the ledger is asked for its nonce', () => {
  fakeTime()

  test("a call whose time ends during the ledger's answer gets the nonce, and none is filled", async () => {
    const { requests, pending, kinds, answer } = setting()
    const acquired = requests.acquire(request, { timeoutMs: 5_000 })
    await soon(9_000)
    answer({ kind: 'granted', entry })
    expect(await acquired).toEqual({ kind: 'acquired', pending })
    await soon(60_000)
    expect(kinds()).toEqual(['grant'])
  })

  test('a refused late call gets the reason at once and waits in no queue', async () => {
    const { requests, answer } = setting()
    const acquired = requests.acquire(request, { timeoutMs: 5_000 })
    await soon(9_000)
    answer({ kind: 'refused', why: 'unsynced', detail: 'the account has not been read yet' })
    expect(await acquired).toEqual({ kind: 'refused', why: 'unsynced', detail: 'the account has not been read yet' })
    expect(requests.waiting).toBe(0)
  })

  test('a late call does not wait for ever, and a nonce that comes after that goes back', async () => {
    const { requests, kinds, answer } = setting()
    const acquired = requests.acquire(request, { timeoutMs: 5_000 })
    await soon(15_000)
    expect(await acquired).toMatchObject({ kind: 'refused', why: 'window' })
    answer({ kind: 'granted', entry })
    await soon(0)
    expect(kinds()).toEqual(['grant', 'release'])
  })

  test.each([1_000, 9_000])('a late call leaves at once when its step is cancelled (after %i ms)', async (ms) => {
    const { requests } = setting()
    const step = new AbortController()
    const acquired = requests.acquire(request, { timeoutMs: 5_000, signal: step.signal })
    await soon(ms)
    step.abort()
    expect(await acquired).toMatchObject({ kind: 'refused' })
  })
})

/** After kill -STOP and -CONT, or on a laptop that slept, a process reads old answers before its timers run. */
describe('A process after a pause', () => {
  fakeTime()

  test('a request whose caller has no time left is not sent', async () => {
    const { requests, kinds, isStale, answer } = setting()
    const acquired = requests.acquire(request, { timeoutMs: 5_000 })
    expect(isStale()).toBe(false)
    await soon(5_001)
    expect(isStale()).toBe(true)
    answer()
    expect(await acquired).toMatchObject({ kind: 'refused', why: 'window' })
    await soon(60_000)
    expect(kinds()).toEqual(['grant'])
  })

  test('a process after a pause requests no nonce for calls whose time has passed', async () => {
    const { requests, ledger, kinds } = setting()
    ledger.view.next = 7 + ledger.view.window
    const acquired = requests.acquire(request, { timeoutMs: 5_000 })
    expect([requests.waiting, kinds()]).toEqual([1, []])
    const stood = performance.now() + 20_000
    vi.spyOn(performance, 'now').mockReturnValue(stood)
    requests.onAccount({ latestNonce: 15 } as Account)
    vi.mocked(performance.now).mockRestore()
    expect(await acquired).toMatchObject({ kind: 'refused', why: 'window' })
    expect([requests.waiting, kinds()]).toEqual([0, []])
  })
})
