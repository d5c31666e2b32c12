import { appendFile, rm, writeFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSignedNonces, SpendingCounter, windows } from '../../chains/evm/signers/spending-log.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { costing, ether, keyWith, start } from '../helpers/limited-key.ts'
import { codeOfAsync } from '../helpers/refusals.ts'

describe('the counter of spending', () => {
  test('a nonce that is signed again after thousands of others counts twice', () => {
    const spending = new SpendingCounter()
    for (let nonce = 0; nonce < 3_000; nonce++) spending.charge(1n, nonce, start)
    expect(spending.spent('hour', start)).toBe(3_000n)
    expect([spending.added(1n, 2_999), spending.added(1n, 0), spending.added(1n, undefined)]).toEqual([0n, 1n, 1n])
  })

  test('an attempt counts for at least the window, and for at most five minutes more', () => {
    const minute = 60_000
    fc.assert(
      fc.property(
        fc.nat({ max: 1_000_000 }),
        fc.constantFrom('hour' as const, 'day' as const),
        fc.nat({ max: 5 * minute }),
        (ms, window, more) => {
          const at = start + ms
          const spending = new SpendingCounter()
          spending.charge(7n, 0, at)
          expect(spending.spent(window, at + windows[window] - more)).toBe(7n)
          expect(spending.spent(window, at + windows[window])).toBe(7n)
          expect(spending.spent(window, at + windows[window] + 5 * minute + more)).toBe(0n)
        },
      ),
    )
  })

  test('each nonce counts with its dearest attempt, in any order of its attempts', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 3 }), fc.bigInt({ min: 0n, max: 9n })), { maxLength: 20 }), (attempts) => {
        const spending = new SpendingCounter()
        const dearest = new Map<number, bigint>()
        for (const [nonce, cost] of attempts) {
          const before = dearest.get(nonce) ?? 0n
          expect(spending.added(cost, nonce)).toBe(cost > before ? cost - before : 0n)
          spending.charge(cost, nonce, start)
          dearest.set(nonce, cost > before ? cost : before)
        }
        expect(spending.spent('hour', start)).toBe([...dearest.values()].reduce((sum, cost) => sum + cost, 0n))
      }),
    )
  })

  test('at most 2,400 stretches of five minutes are remembered, and the oldest are forgotten', () => {
    const spending = new SpendingCounter()
    const last = start + 2_999 * 5 * 60_000
    for (let count = 0; count < 3_000; count++) spending.charge(1n, count, start + count * 5 * 60_000)
    // All remembered charges are later than `start`, so the sum of a day at `start` includes all of them.
    expect([spending.spent('day', start), spending.spent('hour', last)]).toEqual([2_400n, 13n])
  })
})

describe('the records of spending, while the clock of the process does not move', () => {
  let passed = 0
  let folder = ''
  beforeEach(() => {
    folder = temporaryFolder()
    // Rounded to a whole number, so that sums are exact.
    passed = Math.ceil(performance.now())
    vi.spyOn(performance, 'now').mockImplementation(() => passed)
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })
  const open = () => keyWith({ maxSpendingPerHourWei: String(ether) }, { spendingFolder: folder, clock: () => start })
  const path = () => join(folder, `${start}.log`)
  const spentBy = async ({ signer }: ReturnType<typeof open>) => {
    await codeOfAsync(() => signer.check!(costing(1_000_000n, 99)))
    return signer.spending?.()[0]?.spent
  }

  test('checks read the records at most once a second', async () => {
    const [one, other] = [open(), open()]
    expect(await spentBy(one)).toBe(0n)
    await other.signer.sign(costing(21_000n, 0))
    passed += 1_000
    expect(await spentBy(one)).toBe(0n)
    passed += 1
    expect(await spentBy(one)).toBe(21_000n)
  })

  test('each process with the folder knows the nonces that the key signed in the last day', async () => {
    let now = start
    const { signer } = keyWith({ maxSpendingPerHourWei: String(ether) }, { spendingFolder: folder, clock: () => now })
    const signedBelow = createSignedNonces(folder, () => now)
    expect(await signedBelow(100)).toBeUndefined()
    for (const nonce of [7, 5]) await signer.sign(costing(21_000n, nonce))
    now += 5 * 60_000
    await signer.sign(costing(21_000n, 500))
    passed += 2_000
    expect([await signedBelow(100), await signedBelow(501)]).toEqual([7, 500])
    now += 24 * 60 * 60_000 - 5 * 60_000 - 1
    expect(await signedBelow(100)).toBe(7)
    now += 5 * 60_000 + 1
    expect(await signedBelow(100)).toBeUndefined()
  })

  test('a nonce that is far ahead hides no other nonce that was signed in the same minutes', async () => {
    const { signer } = keyWith({ maxSpendingPerHourWei: String(ether) }, { spendingFolder: folder, clock: () => start })
    const signedBelow = createSignedNonces(folder, () => start)
    for (const nonce of [8, 7, 500, 5]) await signer.sign(costing(21_000n, nonce))
    expect(await signedBelow(500)).toBe(8)
    for (let index = 1; index <= 40; index++) await signer.sign(costing(21_000n, index * 1_000))
    passed += 2_000
    const [below, atMost] = [await signedBelow(136), await signedBelow(40_001)]
    expect(below).toBeGreaterThanOrEqual(8)
    expect(atMost).toBe(40_000)
  })

  test('an attempt that is signed again an hour later counts for another day, and adds one line an hour', async () => {
    let now = start
    const { signer } = keyWith({ maxSpendingPerHourWei: String(ether) }, { spendingFolder: folder, clock: () => now })
    const signedBelow = createSignedNonces(folder, () => now)
    await signer.sign(costing(21_000n, 7))
    now += 2 * 60 * 60_000
    for (let times = 0; times < 3; times++) {
      passed += 2_000
      await signer.sign(costing(21_000n, 7))
    }
    expect(await readFile(join(folder, `${now}.log`), 'utf8')).toBe(`\n${now} 7 21000\n`)
    expect(signer.spending?.()[1]?.spent).toBe(21_000n)
    now = start + 25 * 60 * 60_000
    passed += 2_000
    expect(await signedBelow(100)).toBe(7)
  })

  test.each([
    ['the file is removed', () => rm(path()), 0n],
    ['its last line is removed', () => writeFile(path(), `\n${start} 0 21000\n`), 21_000n],
  ])('after %s a running process counts only what the files have', async (_, repair, spent) => {
    const one = open()
    for (const nonce of [0, 1]) await one.signer.sign(costing(21_000n, nonce))
    await repair()
    passed += 2_000
    expect(await spentBy(one)).toBe(spent)
  })

  test('a line that another process is still writing counts when it is whole', async () => {
    const one = open()
    await writeFile(path(), `\n${start} 0 21000\n${start} 1 42`)
    expect(await spentBy(one)).toBe(21_000n)
    await appendFile(path(), '000\n')
    passed += 2_000
    expect(await spentBy(one)).toBe(63_000n)
  })

  test('a process that found its records damaged checks nothing until they are repaired', async () => {
    const one = open()
    for (const nonce of [0, 1]) await one.signer.sign(costing(21_000n, nonce))
    await writeFile(path(), `\n${start} 0 x\n`)
    passed += 2_000
    for (const _ of ['once', 'twice']) expect(await codeOfAsync(() => one.signer.check!(costing(21_000n, 2)))).toBe('SPENDING_UNRECORDED')
  })
})
