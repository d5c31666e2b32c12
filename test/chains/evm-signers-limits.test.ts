import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { windows } from '../../chains/evm/signers/spending-log.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { costing, ether, keyWith, noop, self, start, treasury } from '../helpers/limited-key.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import { defaultLimits } from '../helpers/signing-policy.ts'

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
  ])('a transaction beyond %s is refused, and the key is not asked', async (limit, transaction, wanted, allowed) => {
    const { signer, signed } = keyWith(limits)
    for (const ask of [signer.check!, signer.sign]) {
      await expect(ask(transaction)).rejects.toMatchObject({
        code: 'SIGNING_REFUSED',
        retriable: false,
        about: expect.stringMatching(new RegExp(`^It exceeds chains\\.test\\.signing\\.${limit}\\. `)),
        facts: { limit, wanted, allowed, lane: `evm-31337:${self}` },
      })
    }
    expect(signed).toEqual([])
  })

  test('the no-op that tipped 0.99 ETH per gas is refused by the default limits', async () => {
    const { signer, signed } = keyWith({})
    const dear = String((99n * ether) / 100n)
    expect(await codeOfAsync(() => signer.sign(noop({ maxFee: dear, tip: dear })))).toBe('SIGNING_REFUSED')
    expect(signed).toEqual([])
  })

  test('the data fee has a limit of its own, and counts in transaction cost and spending', async () => {
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
        about: expect.stringContaining('It exceeds chains.test.signing.maxDataFeePerTransactionWei.'),
        facts: { limit: 'maxDataFeePerTransactionWei', wanted: `${fee}`, dataFee: `${fee}` },
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

  const paying = (nonce: number, wei = ether) => noop({ nonce, to: treasury, value: String(wei), maxFee: '1', tip: '0' })
  const paymentLimits = {
    ...{ maxPaymentWei: String(ether), maxSpendingPerHourWei: String(2n * ether), maxSpendingPerDayWei: String(3n * ether) },
  }

  test('payments count against their own hourly and daily limits, not against those of deliveries', async () => {
    let now = start
    const { signer, signed } = keyWith(paymentLimits, { clock: () => now })
    for (const nonce of [0, 1]) await signer.sign(paying(nonce))
    const refusedAt = async (nonce: number, limit: string) => {
      const message = expect.stringContaining(`The sum of all payments exceeds chains.test.signing.${limit}`)
      for (const ask of [signer.check!, signer.sign])
        await expect(ask(paying(nonce))).rejects.toMatchObject({ code: 'SIGNING_REFUSED', message, facts: { limit } })
    }
    await refusedAt(2, 'maxSpendingPerHourWei')
    await signer.sign(costing(ether, 2))
    now += windows.hour + 5 * 60_000
    await signer.sign(paying(3))
    now += windows.hour + 5 * 60_000
    await refusedAt(4, 'maxSpendingPerDayWei')
    expect(signed).toHaveLength(4)
    expect(signer.spending?.()).toContainEqual({ kind: 'payment', window: 'day', spent: 3n * ether, limit: 3n * ether })
    // A no-op and three payments were signed. Refused payments do not count.
    const spent = (ether / 21_000n) * 21_000n + 3n * 21_000n
    expect(signer.spending?.()).toContainEqual({ kind: 'cost', window: 'day', spent, limit: 3n * ether })
  })

  test('payments of all processes of a key are counted together, also after a restart', async () => {
    const spendingFolder = temporaryFolder()
    const open = () => keyWith(paymentLimits, { spendingFolder, clock: () => start })
    const [one, other] = [open(), open()]
    await one.signer.sign(paying(0))
    await other.signer.sign(paying(1))
    for (const { signer } of [one, other, open()]) expect(await codeOfAsync(() => signer.sign(paying(2, 1n)))).toBe('SIGNING_REFUSED')
    await open().signer.sign(costing(ether, 2))
  })

  test('a payment that is refused because costs are at their limit is not counted as paid', async () => {
    const { signer } = keyWith(paymentLimits, { clock: () => start })
    for (const nonce of [7, 8]) await signer.sign(costing(ether - 50_000n, nonce))
    const tooDear = { ...paying(1), maxFee: '1000' }
    await expect(signer.sign(tooDear)).rejects.toMatchObject({ message: expect.stringContaining('The cost of all transactions exceeds') })
    expect(signer.spending?.()).toContainEqual({ kind: 'payment', window: 'hour', spent: 0n, limit: 2n * ether })
    for (const nonce of [1, 2]) await signer.sign(paying(nonce))
  })

  test('without limits in the config, each payment still has a limit', async () => {
    const { signer } = keyWith({ maxCostPerTransactionWei: String(ether) })
    const much = noop({ to: treasury, value: String(10n * ether + 1n), maxFee: '1', tip: '0' })
    await expect(signer.check!(much)).rejects.toMatchObject({ code: 'SIGNING_REFUSED', facts: { limit: 'maxPaymentWei' } })
  })

  test('nothing is signed while the data fee cannot be read', async () => {
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
        about: expect.stringContaining('A no-op is signed with at most 5000000 gas.'),
        facts: { wanted: '5000001' },
      })
    await signer.sign(noop({ nonce: 1, to: treasury, gasLimit: '5000001', maxFee: '1', tip: '1' }))
    expect(signed).toHaveLength(2)
  })

  test('the sums of an hour and a day and every single limit hold, whatever is requested', async () => {
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
