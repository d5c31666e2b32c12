import fc from 'fast-check'
import { appendFile, chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { withPolicy } from '../../chains/evm/signers/policy.ts'
import { SpendingCounter, windows } from '../../chains/evm/signers/spending-counter.ts'
import type { SignedTransaction, Signer, SigningLimits, UnsignedTransaction } from '../../chains/signing-port.ts'
import { RelayerError } from '../../domain/errors.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import { defaultLimits, testPolicy } from '../helpers/signing-policy.ts'

const self = `0x${'11'.repeat(20)}`
const treasury = `0x${'22'.repeat(20)}`
const ether = 10n ** 18n
const start = Date.UTC(2026, 0, 5, 12)

function noop(changes: Partial<UnsignedTransaction> = {}): UnsignedTransaction {
  const base = { networkId: '1', to: self, data: '0x', value: '0', gasLimit: '21000', maxFee: '1000000000', tip: '1000000000' }
  return { ...base, nonce: 0, ...changes }
}

/** A no-op of this cost, wei. */
function costing(wei: bigint, nonce: number): UnsignedTransaction {
  return noop({ nonce, gasLimit: '21000', maxFee: String(wei / 21_000n), tip: '0' })
}

interface Key {
  readonly signer: Signer
  /** What the key was asked to sign. */
  readonly signed: UnsignedTransaction[]
}

interface KeyOptions {
  readonly spendingFolder?: string
  readonly clock?: () => number
  /** What the chain charges for data, wei. */
  readonly dataFee?: () => bigint
}

function keyWith(limits: Partial<SigningLimits>, { spendingFolder, clock, dataFee = () => 0n }: KeyOptions = {}): Key {
  const signed: UnsignedTransaction[] = []
  const key = {
    address: self,
    sign(transaction: UnsignedTransaction) {
      signed.push(transaction)
      return Promise.resolve({ raw: '0x' } as SignedTransaction)
    },
  }
  const policy = testPolicy({
    coinPayees: [treasury],
    dataFee: async () => String(dataFee()),
    limits,
    ...(spendingFolder && { spendingFolder }),
  })
  return { signer: withPolicy(key, policy, clock), signed }
}

describe('limits of a transaction', () => {
  const limits = { maxGasPerTransaction: '100000', maxTipPerGasWei: '50', maxCostPerTransactionWei: '5000000', maxPaymentWei: '9' }
  const within = noop({ gasLimit: '100000', maxFee: '50', tip: '50' })

  test.each([
    ['all at their limit', within],
    ['a payment at its limit', { ...within, to: treasury, value: '9' }],
  ])('%s is signed', async (_, transaction) => {
    const { signer, signed } = keyWith(limits)
    await signer.check?.(transaction)
    await signer.sign(transaction)
    expect(signed).toEqual([transaction])
  })

  test.each([
    ['maxGasPerTransaction', { ...within, gasLimit: '100001', maxFee: '1', tip: '1' }, '100001', '100000'],
    ['maxTipPerGasWei', { ...within, gasLimit: '21000', maxFee: '60', tip: '51' }, '51', '50'],
    ['maxCostPerTransactionWei', { ...within, maxFee: '51' }, '5100000', '5000000'],
    ['maxPaymentWei', { ...within, to: treasury, value: '10' }, '10', '9'],
  ])('beyond %s it is refused, and the key is not asked', async (limit, transaction, wanted, allowed) => {
    const { signer, signed } = keyWith(limits)
    for (const ask of [signer.check!, signer.sign]) {
      await expect(ask(transaction)).rejects.toMatchObject({
        code: 'SIGNING_REFUSED',
        retriable: false,
        message: expect.stringContaining(`chains.test.signing.${limit}`),
        facts: { limit, wanted, allowed, lane: `evm-31337:${self}` },
      })
    }
    expect(signed).toEqual([])
  })

  test('the no-op that tipped 0.99 ETH per gas is refused by the limits of a config that says nothing', async () => {
    const { signer, signed } = keyWith({})
    const dear = String((99n * ether) / 100n)
    expect(await codeOfAsync(() => signer.sign(noop({ maxFee: dear, tip: dear })))).toBe('SIGNING_REFUSED')
    expect(signed).toEqual([])
  })

  test('what a chain charges for the data beside the gas has a limit of its own, and counts in the cost of a transaction and in spending', async () => {
    let fee = 0n
    const { signer, signed } = keyWith(
      { maxCostPerTransactionWei: String(ether), maxSpendingPerHourWei: String(ether) },
      { dataFee: () => fee },
    )
    const cheap = noop({ maxFee: '1', tip: '1' })
    fee = BigInt(defaultLimits.maxDataFeePerTransactionWei) + 1n
    for (const ask of [signer.check!, signer.sign])
      await expect(ask(cheap)).rejects.toMatchObject({
        code: 'SIGNING_REFUSED',
        facts: { limit: 'maxDataFeePerTransactionWei', wanted: `${fee}` },
      })
    fee -= 1n
    const dear = costing((ether * 95n) / 100n, 0)
    for (const ask of [signer.check!, signer.sign])
      await expect(ask(dear)).rejects.toMatchObject({ facts: { limit: 'maxCostPerTransactionWei' } })
    expect(signed).toEqual([])
    for (let nonce = 0; nonce < 9; nonce++) await signer.sign({ ...cheap, nonce })
    for (const ask of [signer.check!, signer.sign])
      await expect(ask({ ...cheap, nonce: 9 })).rejects.toMatchObject({ facts: { limit: 'maxSpendingPerHourWei' } })
    expect(signer.spending?.()[0]?.spent).toBe(9n * (fee + 21_000n))
  })

  test('where the data fee cannot be read nothing is signed', async () => {
    const away = new RelayerError('NODE_UNAVAILABLE', { detail: 'a test' })
    const { signer, signed } = keyWith(
      {},
      {
        dataFee: () => {
          throw away
        },
      },
    )
    for (const ask of [signer.check!, signer.sign]) await expect(ask(noop())).rejects.toBe(away)
    expect(signed).toEqual([])
  })

  test('a no-op with more gas than any chain asks for is refused, whatever the config allows to calls', async () => {
    const { signer, signed } = keyWith({ maxGasPerTransaction: '16777216' })
    await signer.sign(noop({ gasLimit: '5000000', maxFee: '1', tip: '1' }))
    for (const ask of [signer.check!, signer.sign])
      await expect(ask(noop({ nonce: 1, gasLimit: '5000001', maxFee: '1', tip: '1' }))).rejects.toMatchObject({
        code: 'SIGNING_REFUSED',
        facts: { wanted: '5000001' },
      })
    await signer.sign(noop({ nonce: 1, to: treasury, gasLimit: '5000001', maxFee: '1', tip: '1' }))
    expect(signed).toHaveLength(2)
  })

  test('whatever is asked for in any order, the sums of an hour and a day hold, and so does every single limit', async () => {
    const asked = fc.record({
      nonce: fc.nat(6),
      gasLimit: fc.integer({ min: 21_000, max: 60_000 }),
      maxFee: fc.integer({ min: 1, max: 200 }),
      tip: fc.integer({ min: 0, max: 200 }),
      laterMs: fc.integer({ min: 0, max: 4 * windows.hour }),
    })
    const bounds = { maxGasPerTransaction: 50_000n, maxTipPerGasWei: 100n, maxCostPerTransactionWei: 5_000_000n }
    const [hour, day] = [12_000_000n, 20_000_000n]
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { maxLength: 60 }), async (list) => {
        let now = start
        const texts = Object.fromEntries(Object.entries(bounds).map(([name, value]) => [name, String(value)]))
        const { signer, signed } = keyWith(
          { ...texts, maxSpendingPerHourWei: String(hour), maxSpendingPerDayWei: String(day) },
          { clock: () => now },
        )
        /** When each nonce's dearest attempt became dearer, and by how much. */
        const steps: { at: number; wei: bigint }[] = []
        const dearest = new Map<number, bigint>()
        for (const { laterMs, ...one } of list) {
          now += laterMs
          const before = signed.length
          await signer
            .sign(noop({ nonce: one.nonce, gasLimit: `${one.gasLimit}`, maxFee: `${one.maxFee}`, tip: `${one.tip}` }))
            .catch(() => {})
          if (signed.length === before) continue
          const cost = BigInt(one.gasLimit) * BigInt(one.maxFee)
          expect([BigInt(one.gasLimit) <= bounds.maxGasPerTransaction, BigInt(one.tip) <= bounds.maxTipPerGasWei]).toEqual([true, true])
          expect(cost).toBeLessThanOrEqual(bounds.maxCostPerTransactionWei)
          const known = dearest.get(one.nonce) ?? 0n
          if (cost > known) {
            steps.push({ at: now, wei: cost - known })
            dearest.set(one.nonce, cost)
          }
          for (const [windowMs, most] of [
            [windows.hour, hour],
            [windows.day, day],
          ] as const) {
            const spent = steps.filter(({ at }) => at > now - windowMs).reduce((sum, { wei }) => sum + wei, 0n)
            expect(spent).toBeLessThanOrEqual(most)
          }
        }
      }),
      { numRuns: 200 },
    )
  })
})

describe('what a key spends', () => {
  const hourly = { maxSpendingPerHourWei: String(2n * ether), maxSpendingPerDayWei: String(3n * ether) }
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portage-spending-'))
  })
  afterEach(async () => {
    await chmod(folder, 0o700)
    await rm(folder, { recursive: true })
  })

  test('counts each nonce once, by its dearest attempt, in an hour and in a day', async () => {
    let now = start
    const { signer, signed } = keyWith(hourly, { clock: () => now })
    const half = ether / 2n
    for (const wei of [half / 2n, half, half, half / 2n]) await signer.sign(costing(wei, 0))
    for (const nonce of [1, 2, 3]) await signer.sign(costing(half, nonce))
    const refused = signer.sign(costing(half, 4))
    await expect(refused).rejects.toMatchObject({ code: 'SIGNING_REFUSED', facts: { limit: 'maxSpendingPerHourWei' } })
    // The same again, and a cheaper one, cost nothing new.
    await signer.sign(costing(half, 3))
    now += windows.hour + 5 * 60_000
    await signer.sign(costing(half, 4))
    await signer.sign(costing(half, 5))
    await expect(signer.sign(costing(half, 6))).rejects.toMatchObject({ facts: { limit: 'maxSpendingPerDayWei' } })
    now += windows.day + 5 * 60_000
    await signer.sign(costing(half, 6))
    expect(signed).toHaveLength(4 + 3 + 1 + 2 + 1)
    expect(signer.spending?.()).toEqual([
      { window: 'hour', spent: (half / 21_000n) * 21_000n, limit: 2n * ether },
      { window: 'day', spent: (half / 21_000n) * 21_000n, limit: 3n * ether },
    ])
  })

  test('outlives the process, is shared with others that have the key, and is recorded before the key is asked', async () => {
    let now = start
    const open = () => keyWith(hourly, { spendingFolder: join(folder, 'lane'), clock: () => now })
    const [one, other] = [open(), open()]
    await one.signer.sign(costing(ether, 0))
    await other.signer.sign(costing(ether, 0))
    await other.signer.sign(costing(ether, 1))
    expect(await codeOfAsync(() => one.signer.sign(costing(ether, 2)))).toBe('SIGNING_REFUSED')
    expect(await codeOfAsync(() => open().signer.check!(costing(ether, 2)))).toBe('SIGNING_REFUSED')
    now += 2 * windows.hour
    const later = open()
    await later.signer.sign(costing(ether, 2))
    expect(await codeOfAsync(() => later.signer.sign(costing(ether, 3)))).toBe('SIGNING_REFUSED')
    // What no window reaches any more is not kept for ever.
    now += 30 * windows.day
    for (let hour = 1; hour <= 300; hour++) await writeFile(join(folder, 'lane', `${start - hour * windows.hour}.log`), '')
    await open().signer.sign(costing(ether, 4))
    expect(await readdir(join(folder, 'lane'))).toHaveLength(200 + 1)
  })

  test('of many at once, each sees those before it', async () => {
    const { signer, signed } = keyWith(hourly, { spendingFolder: folder, clock: () => start })
    const results = await Promise.allSettled(Array.from({ length: 40 }, (_, nonce) => signer.sign(costing(ether / 10n, nonce))))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    expect(signed).toHaveLength(20)
  })

  test('of many processes at once, no more are signed for than the limit allows, and what was refused is not signed later', async () => {
    for (let round = 0; round < 5; round++) {
      const spendingFolder = join(folder, String(round))
      const keys = Array.from({ length: 6 }, () => keyWith(hourly, { spendingFolder, clock: () => start }))
      for (const { signer } of keys) await signer.check!(costing(ether, 0))
      const all = () => Promise.allSettled(keys.map(({ signer }, nonce) => signer.sign(costing(ether, nonce))))
      for (const at of ['at once', 'again']) {
        await all()
        const nonces = new Set(keys.flatMap(({ signed }) => signed.map(({ nonce }) => nonce)))
        expect(nonces.size, at).toBeLessThanOrEqual(2)
      }
    }
  })

  test('an attempt that was counted and refused is refused again', async () => {
    const { signer, signed } = keyWith(hourly, { spendingFolder: folder, clock: () => start })
    await signer.sign(costing(ether, 0))
    const [file] = await readdir(folder)
    for (const nonce of [1, 2]) await appendFile(join(folder, file!), `\n${start} ${nonce} ${ether}\n`)
    expect(await codeOfAsync(() => signer.sign(costing(ether / 2n, 1)))).toBe('SIGNING_REFUSED')
    expect(signed).toHaveLength(1)
  })

  test("a clock that is set back over an hour's edge hides nothing, from this process or from another", async () => {
    let now = start + 60_000
    const open = () => keyWith(hourly, { spendingFolder: folder, clock: () => now })
    const other = open()
    now = start - 120_000
    await other.signer.check!(costing(ether, 0))
    now = start + 60_000
    const one = open()
    await one.signer.sign(costing(ether, 0))
    now = start - 120_000
    await one.signer.sign(costing(ether, 1))
    for (const { signer } of [one, other, open()]) expect(await codeOfAsync(() => signer.sign(costing(ether, 2)))).toBe('SIGNING_REFUSED')
  })

  test.each(['in memory', 'in a folder'])('a clock that jumps a month ahead and comes back forgets nothing (%s)', async (where) => {
    let now = start
    const place = where === 'in a folder' ? { spendingFolder: folder } : {}
    const open = () => keyWith(hourly, { ...place, clock: () => now })
    const one = open()
    await one.signer.sign(costing(ether, 0))
    now = start + 30 * windows.day
    await one.signer.sign(costing(ether, 1))
    await open().signer.check!(costing(ether, 2))
    now = start + 60_000
    const all = where === 'in a folder' ? [one, open()] : [one]
    for (const { signer } of all) await expect(signer.sign(costing(ether, 2))).rejects.toMatchObject({ code: 'SIGNING_REFUSED' })
  })

  test('a process that starts with a clock that is days ahead neither removes nor overlooks what counts once the clock is right', async () => {
    let now = start
    const open = () => keyWith(hourly, { spendingFolder: folder, clock: () => now })
    const one = open()
    for (const nonce of [0, 1]) await one.signer.sign(costing(ether, nonce))
    now = start + 3 * windows.day
    const ahead = open()
    await ahead.signer.check!(costing(ether, 2))
    now = start + 60_000
    for (const { signer } of [ahead, open()]) expect(await codeOfAsync(() => signer.sign(costing(ether, 2)))).toBe('SIGNING_REFUSED')
  })

  test('a process that signed nothing for hours counts what others signed in each of them', async () => {
    let now = start
    const open = () => keyWith(hourly, { spendingFolder: folder, clock: () => now })
    const [idle, busy] = [open(), open()]
    await idle.signer.check!(costing(ether, 0))
    for (const nonce of [0, 1, 2]) {
      now += windows.hour
      await busy.signer.sign(costing(ether, nonce))
    }
    now += 2 * windows.hour
    await expect(idle.signer.sign(costing(ether, 3))).rejects.toMatchObject({ facts: { limit: 'maxSpendingPerDayWei' } })
  })

  test('a line that a crash cut short hides none after it', async () => {
    const { signer } = keyWith(hourly, { spendingFolder: folder, clock: () => start })
    await signer.sign(costing(ether, 0))
    const [file] = await readdir(folder)
    await appendFile(join(folder, file!), `\n${start} 1 99999`)
    await signer.sign(costing(ether, 2))
    const again = keyWith(hourly, { spendingFolder: folder, clock: () => start })
    expect(await codeOfAsync(() => again.signer.sign(costing(ether / 2n, 3)))).toBe('SIGNING_REFUSED')
  })

  test('where it cannot be recorded nothing is signed, and it is tried again', async () => {
    const spendingFolder = join(folder, 'a file')
    await writeFile(spendingFolder, '')
    const { signer, signed } = keyWith(hourly, { spendingFolder, clock: () => start })
    await expect(signer.sign(costing(ether, 0))).rejects.toMatchObject({ code: 'SPENDING_UNRECORDED', retriable: true })
    expect(signed).toEqual([])
    await rm(spendingFolder)
    await signer.sign(costing(ether, 0))
    expect(signed).toHaveLength(1)
  })

  test('a nonce that is signed again after thousands of others counts again: never too little', () => {
    const spending = new SpendingCounter()
    for (let nonce = 0; nonce < 3_000; nonce++) spending.charge(1n, nonce, start)
    expect(spending.spent('hour', start)).toBe(3_000n)
    expect([spending.added(1n, 2_999), spending.added(1n, 0), spending.added(1n, undefined)]).toEqual([0n, 1n, 1n])
  })

  test('the default limits let an ordinary lane work', () => {
    expect(BigInt(defaultLimits.maxSpendingPerDayWei)).toBeGreaterThan(BigInt(defaultLimits.maxCostPerTransactionWei))
  })
})
