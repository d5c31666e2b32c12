import { appendFile, chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { windows } from '../../chains/evm/signers/spending-log.ts'
import { costing, ether, keyWith, start } from '../helpers/limited-key.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import { defaultLimits } from '../helpers/signing-policy.ts'
import { temporaryFolder } from '../helpers/folders.ts'

describe('the spending of a key', () => {
  const hourly = { maxSpendingPerHourWei: String(2n * ether), maxSpendingPerDayWei: String(3n * ether) }
  let folder: string
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(async () => {
    await chmod(folder, 0o700)
  })
  const fileIn = async (place: string) =>
    join(
      place,
      (await readdir(place)).find((name) => name.endsWith('.log'))!,
    )

  test('spending counts each nonce once, by its dearest attempt, in an hour and in a day', async () => {
    let now = start
    const { signer, signed } = keyWith(hourly, { clock: () => now })
    const half = ether / 2n
    for (const wei of [half / 2n, half, half, half / 2n]) await signer.sign(costing(wei, 0))
    for (const nonce of [1, 2, 3]) await signer.sign(costing(half, nonce))
    const refused = signer.sign(costing(half, 4))
    await expect(refused).rejects.toMatchObject({ code: 'SIGNING_REFUSED', facts: { limit: 'maxSpendingPerHourWei' } })
    // Nonce 3 is counted, so the same transaction again adds no cost.
    await signer.sign(costing(half, 3))
    now += windows.hour + 5 * 60_000
    await signer.sign(costing(half, 4))
    await signer.sign(costing(half, 5))
    await expect(signer.sign(costing(half, 6))).rejects.toMatchObject({ facts: { limit: 'maxSpendingPerDayWei' } })
    now += windows.day + 5 * 60_000
    await signer.sign(costing(half, 6))
    expect(signed).toHaveLength(4 + 3 + 1 + 2 + 1)
    expect(signer.spending?.()).toEqual([
      { kind: 'cost', window: 'hour', spent: (half / 21_000n) * 21_000n, limit: 2n * ether },
      { kind: 'cost', window: 'day', spent: (half / 21_000n) * 21_000n, limit: 3n * ether },
      { kind: 'payment', window: 'hour', spent: 0n, limit: 2n * ether },
      { kind: 'payment', window: 'day', spent: 0n, limit: 3n * ether },
    ])
  })

  test('processes with one folder share their spending, which is recorded before signing and outlives them', async () => {
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
    now += 30 * windows.day
    for (let hour = 1; hour <= 300; hour++) await writeFile(join(folder, 'lane', `${start - hour * windows.hour}.log`), '')
    const hours = async () => (await readdir(join(folder, 'lane'))).map((name) => Number.parseInt(name, 10)).toSorted((a, b) => b - a)
    const newest = (await hours()).slice(0, 200)
    await open().signer.sign(costing(ether, 4))
    expect(await hours()).toEqual([now, ...newest])
  })

  test.each([
    ['a line that Portage did not write', (line: string) => `${line}x\u00e9\u0000 garbage\n`],
    ['a line whose cost is damaged', (line: string) => line.replace(/\d{3}\n$/, 'x00\n')],
    ['a line whose time is damaged', (line: string) => line.replace(/^\n/, '\nx')],
    ['a line with more after its cost', (line: string) => line.replace(/\n$/, '-\n')],
  ])('after %s in a spending file, no process signs anything', async (_, damage) => {
    const open = () => keyWith(hourly, { spendingFolder: folder, clock: () => start })
    const one = open()
    await one.signer.sign(costing(ether, 0))
    const path = await fileIn(folder)
    await writeFile(path, damage(await readFile(path, 'latin1')), 'latin1')
    const all = [one, open(), open()]
    const about = `${path} has a line that Portage did not write. Remove the line, or the file if that hour's spending does not matter.`
    for (const { signer } of all) await expect(signer.sign(costing(ether, 1))).rejects.toMatchObject({ code: 'SPENDING_UNRECORDED', about })
  })

  test('a running process counts each line once while a line is damaged, and after its repair', async () => {
    const nonces = 3_000
    const line = (nonce: number) => `\n${start} ${nonce} 1000\n`
    const path = join(folder, `${start}.log`)
    const good = Array.from({ length: nonces }, (_, nonce) => line(nonce)).join('')
    await writeFile(path, `${good}${start} 7 1x00\n${line(nonces)}`)
    const { signer } = keyWith(hourly, { spendingFolder: folder, clock: () => start })
    for (let check = 0; check < 3; check++) expect(await codeOfAsync(() => signer.check!(costing(ether, 0)))).toBe('SPENDING_UNRECORDED')
    await writeFile(path, `${good}${line(nonces)}`)
    await signer.check!(costing(ether, 0))
    expect(signer.spending?.()[0]?.spent).toBe(1_000n * BigInt(nonces + 1))
  })

  test.each([
    ['a line is removed', (path: string) => writeFile(path, `\n${start} 0 ${ether / 2n}\n`)],
    ['the file is removed', (path: string) => rm(path)],
  ])('after %s a running process counts what the files have, and what others sign later', async (_, repair) => {
    const open = () => keyWith(hourly, { spendingFolder: folder, clock: () => start })
    const one = open()
    for (const nonce of [0, 1]) await one.signer.sign(costing(ether, nonce))
    await repair(await fileIn(folder))
    // With the other process's records, the file is as long as before the repair, so its size does not reveal the
    // repair.
    const other = open()
    for (let nonce = 2; nonce < 7; nonce++) await other.signer.sign(costing(ether / 5n, nonce))
    const spent = async ({ signer }: typeof one) => {
      await codeOfAsync(() => signer.check!(costing(ether, 7)))
      return signer.spending?.()[0]?.spent
    }
    await expect.poll(() => spent(one), { timeout: 10_000 }).toBe(await spent(other))
  })

  test.each([0, Date.UTC(2318, 0)])('a process whose clock shows %i ms still counts what all processes signed', async (now) => {
    const open = () => keyWith(hourly, { spendingFolder: folder, clock: () => now })
    for (const nonce of [0, 1]) await open().signer.sign(costing(ether, nonce))
    expect(await codeOfAsync(() => open().signer.sign(costing(ether, 2)))).toBe('SIGNING_REFUSED')
  })

  test('a check may know less than was signed elsewhere in the last second; an attempt never does', async () => {
    const open = () => keyWith(hourly, { spendingFolder: folder, clock: () => start })
    const [one, other] = [open(), open()]
    await one.signer.check!(costing(ether, 2))
    for (const nonce of [0, 1]) await other.signer.sign(costing(ether, nonce))
    expect(await codeOfAsync(() => one.signer.sign(costing(ether, 2)))).toBe('SIGNING_REFUSED')
    // The refused attempt made the signer read all records.
    expect(await codeOfAsync(() => one.signer.check!(costing(ether, 3)))).toBe('SIGNING_REFUSED')
    expect(one.signed).toEqual([])
  })

  test('each of many simultaneous signatures counts those before it', async () => {
    const { signer, signed } = keyWith(hourly, { spendingFolder: folder, clock: () => start })
    const results = await Promise.allSettled(Array.from({ length: 40 }, (_, nonce) => signer.sign(costing(ether / 10n, nonce))))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    expect(signed).toHaveLength(20)
    // Refused attempts are not recorded.
    expect(signer.spending?.()[0]?.spent).toBe(20n * (ether / 10n / 21_000n) * 21_000n)
  })

  test('an hour has one file, which only its owner can read, and an attempt that adds no cost adds no line', async () => {
    let now = start + 20 * 60_000
    const place = join(folder, 'lane')
    const { signer } = keyWith(hourly, { spendingFolder: place, clock: () => now })
    await signer.sign(costing(ether / 2n, 0))
    now = start + 59 * 60_000
    await signer.sign(costing(ether / 2n, 0))
    await signer.sign(costing(ether / 4n, 0))
    expect((await readdir(place)).filter((name) => name.endsWith('.log'))).toEqual([`${start}.log`])
    const path = join(place, `${start}.log`)
    expect(await readFile(path, 'utf8')).toBe(`\n${start + 20 * 60_000} 0 ${(ether / 2n / 21_000n) * 21_000n}\n`)
    expect([(await stat(place)).mode & 0o777, (await stat(path)).mode & 0o777]).toEqual([0o700, 0o600])
  })

  test('only files with the name of an hour are read', async () => {
    for (const name of [`x${start - windows.hour}.log`, `${start - windows.hour}.log.old`, `${start - windows.hour}.txt`])
      await writeFile(join(folder, name), 'no line of Portage\n')
    const { signer } = keyWith(hourly, { spendingFolder: folder, clock: () => start })
    await signer.sign(costing(ether, 0))
    expect(signer.spending?.()[0]?.spent).toBe((ether / 21_000n) * 21_000n)
  })

  test('many processes sign for no more than the limit, and a refused call is not signed later', async () => {
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

  test('a clock that jumps a month ahead and comes back forgets nothing', async () => {
    let now = start
    const open = () => keyWith(hourly, { spendingFolder: folder, clock: () => now })
    const one = open()
    await one.signer.sign(costing(ether, 0))
    now = start + 30 * windows.day
    await one.signer.sign(costing(ether, 1))
    await open().signer.check!(costing(ether, 2))
    now = start + 60_000
    for (const { signer } of [one, open()]) await expect(signer.sign(costing(ether, 2))).rejects.toMatchObject({ code: 'SIGNING_REFUSED' })
  })

  test('a process whose clock is days ahead neither removes nor misses records that count later', async () => {
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

  test('a line that a crash cut short hides neither the one before it nor the one after it', async () => {
    const { signer } = keyWith(hourly, { spendingFolder: folder, clock: () => start })
    await signer.sign(costing(ether, 0))
    const [file] = await readdir(folder)
    for (const cut of [`\n${start} 7`, `\n${start} 1 99999`]) await appendFile(join(folder, file!), cut)
    await signer.sign(costing(ether - 1_000_000n, 2))
    const again = keyWith(hourly, { spendingFolder: folder, clock: () => start })
    expect(await codeOfAsync(() => again.signer.sign(costing(ether / 2n, 3)))).toBe('SIGNING_REFUSED')
  })

  test('if spending cannot be recorded, the key signs nothing, and the next request tries again', async () => {
    const spendingFolder = join(folder, 'a file')
    await writeFile(spendingFolder, '')
    const { signer, signed } = keyWith(hourly, { spendingFolder, clock: () => start })
    await expect(signer.sign(costing(ether, 0))).rejects.toMatchObject({
      ...{ code: 'SPENDING_UNRECORDED', retriable: true },
      ...{ about: `${spendingFolder}: EEXIST`, cause: { code: 'EEXIST' } },
    })
    expect(signed).toEqual([])
    await rm(spendingFolder)
    await signer.sign(costing(ether, 0))
    expect(signed).toHaveLength(1)
  })

  test('the default limits let an ordinary lane work', () => {
    expect(BigInt(defaultLimits.maxSpendingPerDayWei)).toBeGreaterThan(BigInt(defaultLimits.maxCostPerTransactionWei))
  })
})
