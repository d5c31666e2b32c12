import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Losses } from '../../activities/checks/losses.ts'
import type { Parties } from '../../bridges/port.ts'

const minute = 60_000
const hour = 60 * minute
const start = 1_700_000_000_000
const parties = (recipient: string, token = 'weth', targetChain = 'bsc') => ({ targetChain, bridge: 'b', recipient, token })
const losses = (tokenBudget = 10n ** 30n) => new Losses(minute, tokenBudget)
let made = 0
const loss = (now: number, paid = 1n) => ({ txHash: `0x${made++}`, paid, now })

function waitOf(kept: Losses, of: Parties, now: number, retriedAt?: number, isContract?: boolean) {
  const wait = kept.quarantineOf(of, { retriedAt, isContract }, now)
  return wait && { until: now + wait.retryInMs }
}

describe('A recipient', () => {
  test('a recipient of a token waits after a loss, twice as long after each, at most an hour', () => {
    const kept = losses()
    let now = start
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
      kept.add(parties('eve'), loss(now))
      expect(waitOf(kept, parties('eve', 'other'), now)).toBeUndefined()
      expect(waitOf(kept, { ...parties('eve'), bridge: 'c' }, now)).toBeUndefined()
      expect(waitOf(kept, parties('eve', 'weth', 'ethereum'), now)).toBeUndefined()
      expect(waitOf(kept, parties('bob'), now)).toBeUndefined()
      now += minutes * minute
      expect(waitOf(kept, parties('eve'), now)).toBeUndefined()
    }
    now += hour + minute
    kept.add(parties('eve'), loss(now))
    expect(waitOf(kept, parties('eve'), now)?.until).toBe(now + minute)
  })

  test('a recipient does not wait after an ordered retry, until its next loss', () => {
    const kept = losses(0n)
    kept.add(parties('eve'), loss(start))
    expect(waitOf(kept, parties('eve'), start + 2, start + 1)).toBeUndefined()
    expect(waitOf(kept, parties('eve'), start + 2, start - 1)).toBeDefined()
    kept.add(parties('eve'), loss(start + 3))
    expect(waitOf(kept, parties('eve'), start + 4, start + 1)).toBeDefined()
  })

  test('a transaction counts once, however often it is seen', () => {
    const kept = losses()
    for (let index = 0; index < 3; index++) kept.add(parties('eve'), { txHash: '0xsame', paid: 1n, now: start })
    expect(waitOf(kept, parties('eve'), start)?.until).toBe(start + minute)
  })
})

test('losses of a delivery that somebody pays for hold back no other delivery of its recipient or token', () => {
  const kept = losses(1n)
  const paid = { ...parties('router'), lossesOf: 'request 1' }
  kept.add(paid, loss(start, 2n))
  expect(waitOf(kept, paid, start)).toBeDefined()
  expect(waitOf(kept, { ...paid, lossesOf: 'request 2' }, start)).toBeUndefined()
  expect(waitOf(kept, parties('router'), start)).toBeUndefined()
})

describe('A token', () => {
  test('a token waits exactly while its losses of the last hour exceed the budget', () => {
    const one = fc.record({ after: fc.integer({ min: 0, max: 20 * minute }), paid: fc.bigInt({ min: 1n, max: 50n }) })
    fc.assert(
      fc.property(fc.array(one, { maxLength: 40 }), fc.bigInt({ min: 0n, max: 200n }), fc.nat(2 * hour), (steps, budget, later) => {
        const kept = losses(budget)
        const all: { at: number; paid: bigint }[] = []
        let now = start
        for (const [index, { after, paid }] of steps.entries()) {
          now += after
          all.push({ at: now, paid })
          kept.add(parties(`r${index}`), loss(now, paid))
        }
        const lostAt = (time: number) =>
          all.filter(({ at }) => Math.floor(at / minute) * minute + minute + hour > time).reduce((sum, { paid }) => sum + paid, 0n)
        now += later
        const wait = waitOf(kept, parties('bob'), now)
        expect(wait !== undefined).toBe(lostAt(now) > budget)
        if (!wait) return
        expect(wait.until - now).toBeLessThanOrEqual(hour + minute)
        expect(lostAt(wait.until)).toBeLessThanOrEqual(budget)
        expect(lostAt(wait.until - 1)).toBeGreaterThan(budget)
      }),
    )
  })

  test('a token of another name, bridge or chain does not wait', () => {
    const kept = losses(0n)
    kept.add(parties('eve'), loss(start))
    expect(waitOf(kept, parties('bob'), start)).toBeDefined()
    expect(waitOf(kept, parties('bob', 'usdc'), start)).toBeUndefined()
    expect(waitOf(kept, parties('bob', 'weth', 'ethereum'), start)).toBeUndefined()
    expect(waitOf(kept, { ...parties('bob'), bridge: 'c' }, start)).toBeUndefined()
  })
})

describe('Contracts', () => {
  test('contracts that revert stop other contracts of the token, and no recipient without code', () => {
    const kept = losses(10n)
    for (let index = 0; index < 1_000; index++) kept.add(parties(`eve${index}`), loss(start), true)
    expect(waitOf(kept, parties('alice'), start)).toBeUndefined()
    expect(waitOf(kept, parties('safe'), start, undefined, true)).toBeDefined()
    expect(waitOf(kept, parties('safe', 'usdc'), start, undefined, true)).toBeUndefined()
  })

  test('accounts that install code after their admission count as accounts without code', () => {
    const kept = losses(10n)
    const addAt = (now: number) => {
      for (let index = 0; index < 11; index++) kept.add(parties(`0x${now}${index}`), loss(now), true)
      return waitOf(kept, parties('bob'), now)
    }
    // Contracts of the token wait from `start`. A call that reverts up to two minutes later may have been admitted
    // before, so its loss counts as the loss of a contract. Later losses count as losses of accounts without code, so
    // `bob` waits too.
    expect([addAt(start), addAt(start + minute)]).toEqual([undefined, undefined])
    expect(addAt(start + 3 * minute)).toBeDefined()
    expect(waitOf(kept, parties('bob', 'usdc'), start + 3 * minute)).toBeUndefined()
  })

  test('above the budget of a chain, every token with a loss waits, and no other', () => {
    const kept = losses(10n)
    for (let index = 0; index < 5; index++) kept.add(parties(`eve${index}`, `junk${index}`), loss(start, 8n))
    expect(waitOf(kept, parties('bob', 'junk0'), start)).toBeUndefined()
    kept.add(parties('eve5', 'junk5'), loss(start, 1n))
    expect(waitOf(kept, parties('bob', 'junk0'), start)).toBeDefined()
    expect(waitOf(kept, parties('bob', 'weth'), start)).toBeUndefined()
    expect(waitOf(kept, parties('bob', 'junk0', 'ethereum'), start)).toBeUndefined()
  })
})

test('while others deliver first, a young transfer waits for a minute, and nobody is quarantined', () => {
  const kept = losses(10n)
  kept.addOutrun(parties('eve'), loss(start, 10n))
  expect(kept.waitForOthers(parties('bob'), 0, start)).toBeUndefined()
  kept.addOutrun(parties('eve'), loss(start, 1n))
  expect(kept.waitForOthers(parties('bob'), 1, start + 1)).toMatchObject({ code: 'OUTRUN', retryInMs: minute - 1 })
  expect(kept.waitForOthers(parties('bob'), minute, start)).toBeUndefined()
  expect(kept.waitForOthers(parties('bob', 'usdc'), 0, start)).toBeUndefined()
  expect(waitOf(kept, parties('eve'), start, undefined, true)).toBeUndefined()
})

test('the oldest of more than ten thousand recipients is forgotten', () => {
  const kept = losses()
  for (let index = 0; index <= 10_000; index++) kept.add(parties(`r${index}`), loss(start))
  expect([0, 1, 10_000].map((index) => waitOf(kept, parties(`r${index}`), start) !== undefined)).toEqual([false, true, true])
})

describe('A batch', () => {
  test('a reverted batch lets its recipients go alone for an hour, and nobody waits', () => {
    const kept = losses()
    const found = kept.addBatch(parties('eve'), { txHash: '0xbatch', paid: 5n, now: start })
    expect(found).toEqual([{ kind: 'batch', until: start + hour, reason: expect.stringContaining('cost 5 wei') }])
    expect(kept.addBatch(parties('bob'), { txHash: '0xbatch', paid: 5n, now: start })).toEqual([])
    for (const recipient of ['eve', 'bob']) {
      expect(waitOf(kept, parties(recipient), start)).toBeUndefined()
      expect([start, start + hour - 1, start + hour].map((now) => kept.goesAlone(parties(recipient), now))).toEqual([true, true, false])
    }
    expect(kept.goesAlone(parties('carol'), start)).toBe(false)
  })

  test('a batch that exceeds the budget of its token lets all transfers of that token go alone', () => {
    const kept = losses(10n)
    const batch = (recipient: string, paid: bigint, now: number) => kept.addBatch(parties(recipient), loss(now, paid))
    batch('eve1', 10n, start)
    expect(kept.goesAlone(parties('bob'), start)).toBe(false)
    expect(batch('eve2', 1n, start + 30 * minute)).toMatchObject([{ kind: 'batch', reason: expect.stringContaining('11 wei') }])
    expect(kept.goesAlone(parties('bob'), start + 30 * minute)).toBe(true)
    expect(kept.goesAlone(parties('bob', 'usdc'), start + 30 * minute)).toBe(false)
    expect(waitOf(kept, parties('bob'), start + 30 * minute)).toBeUndefined()
    expect(kept.goesAlone(parties('bob'), start + hour)).toBe(false)
  })

  test.each(['before', 'after'])(
    'a batch does not count if another relayer had delivered one of its transfers, seen %s the others',
    (when) => {
      const kept = losses(0n)
      if (when === 'before') kept.explainBatch('0xbatch')
      kept.addBatch(parties('eve'), { txHash: '0xbatch', paid: 5n, now: start })
      if (when === 'after') kept.explainBatch('0xbatch')
      expect(kept.addBatch(parties('bob'), { txHash: '0xbatch', paid: 5n, now: start })).toEqual([])
      expect([kept.goesAlone(parties('eve'), start), kept.goesAlone(parties('bob'), start)]).toEqual([false, false])
    },
  )
})

test('the losses of paid requests make no other delivery of the chain wait', () => {
  const kept = new Losses(60_000, 10n)
  const honest = { targetChain: 'bsc', bridge: 'receivers', recipient: 'app', token: '2/emitter' }
  kept.add(honest, { txHash: '0x1', paid: 1n, now: 1_000 })
  const paid = { ...honest, bridge: 'executor', token: '2/other' }
  for (let one = 0; one < 5; one++)
    kept.add({ ...paid, recipient: `contract ${one}`, lossesOf: `request ${one}` }, { txHash: `0x2${one}`, paid: 9n, now: 2_000 })
  expect(kept.quarantineOf({ ...honest, recipient: 'another' }, {}, 30 * 60_000)).toBeUndefined()
})
