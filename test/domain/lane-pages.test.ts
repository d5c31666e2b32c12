import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { kept } from '../../domain/lane/entries.ts'
import type { Attempt, Entry, LaneState } from '../../domain/lane/lane.ts'
import { bytesToUnpack, mayOwn, packEntries, unpackEntries } from '../../domain/lane/storage/pack.ts'
import { carried, paged, unpaged } from '../../domain/lane/storage/pages.ts'
import { apply } from '../../domain/lane/reducer/reducer.ts'
import { firstKept, keptEntry, laneThatKeeps, quarterHour } from './kept-lane.ts'

const lane = `evm-42161:0x${'a'.repeat(40)}`
const json = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
const sizeOf = (state: LaneState) => Buffer.byteLength(JSON.stringify(state))
const entries = (count: number, options?: Parameters<typeof keptEntry>[1]) =>
  Array.from({ length: count }, (_, index) => keptEntry(index, options))

describe('packed entries', () => {
  /** Texts that no bridge makes: random ones, and separators of the packed form. */
  const odd = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('', ';', ',', '.', '~', '!', '*', '-', 'A', 'AA', '0x', '007'),
  )
  const hex = (length: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789abcdef'.split('')), minLength: length, maxLength: length })
  const number = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n }).map(String), fc.constantFrom('0', '21000', '30000000000'), odd)
  const usualId = fc
    .tuple(fc.constantFrom('a:b:c', 'batch:evm-1:0xa', ''), number, hex(16), fc.nat())
    .map(([start, sequence, digest, round]) => `${start}:${sequence}:${digest}/${round}`)
  const attempt: fc.Arbitrary<Attempt> = fc.record(
    { kind: fc.constantFrom('call' as const, 'noop' as const), gasLimit: number, maxFee: number, tip: number, dataFee: number },
    { requiredKeys: ['kind', 'gasLimit', 'maxFee', 'tip'] },
  )
  const callHash = fc.oneof(
    hex(64).map((digits) => `0x${digits}`),
    odd,
  )
  const owner = fc.record({ intentId: fc.oneof(usualId, odd), callHash, value: number }, { requiredKeys: ['intentId', 'callHash'] })
  const entry: fc.Arbitrary<Entry> = fc.record(
    {
      nonce: fc.nat(40),
      owner,
      grantedTo: fc.oneof(
        fc.tuple(hex(8), fc.nat()).map(([process, count]) => `${process}-${count}`),
        fc.constantFrom('', 'deadbeef-1', 'deadbeef-2'),
        odd,
      ),
      maybeSent: fc.boolean(),
      value: number,
      callHash,
      sinceBlock: fc.nat(3),
      claimedBlock: fc.nat(3),
      fill: fc.constantFrom('cancelled' as const, 'inherited' as const),
      raise: fc.record({ after: fc.nat(), maxFee: number }),
      attempts: fc.array(attempt, { maxLength: 4 }),
    },
    { requiredKeys: ['nonce', 'grantedTo', 'maybeSent', 'sinceBlock', 'claimedBlock', 'attempts'] },
  )

  test('packed entries of any content are unpacked unchanged', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 30 }), (some) => {
        const packed = packEntries(some)
        expect(unpackEntries(json(packed))).toEqual(some)
        expect(bytesToUnpack(packed)).toBeLessThan(100_000)
        for (const { owner: one } of some) if (one) expect(mayOwn(packed, one.intentId)).toBe(true)
      }),
      { numRuns: 500 },
    )
  }, 120_000)

  test.each([
    ['repeats a long word', ['x'.repeat(1_000_000)], ',.A,,,,,;'],
    ['repeats a long start of ids', ['x'.repeat(1_000_000)], ',A,1,,,,;'],
    ['has only empty entries', [], ';'],
  ])('a forged page that %s is refused before it fills the memory', (_, words, entry) => {
    expect(() => unpackEntries({ words, text: entry.repeat(2_000_000 / entry.length) })).toThrow(RangeError)
  })

  test('a forged page with a number of a million digits is refused', () => {
    const text = `,-,,,0-${'z'.repeat(1_000_000)},,;`
    expect(() => unpackEntries({ words: [], text })).toThrow(RangeError)
  })
})

describe('15 minutes of finality at 20 per second on one key', { timeout: 120_000 }, () => {
  test('15 minutes of finality at 20 per second fit into the state, and the lane still grants nonces', () => {
    const plain = laneThatKeeps(lane, entries(quarterHour))
    const state = paged(plain)
    const bytes = sizeOf(carried(state))
    expect(bytes / quarterHour).toBeLessThan(85)
    expect(bytes).toBeLessThan(1.5 * 1024 * 1024)
    expect(kept(state)).toEqual({ kept: quarterHour, keptLimit: 20_000 })
    expect(unpaged(json(carried(state)))).toEqual(plain)
    // Clients unpack up to 32 MiB.
    expect(carried(state).pages!.reduce((sum, page) => sum + bytesToUnpack(page), 0)).toBeLessThan(1_048_576)
    const { owner, attempts } = keptEntry(quarterHour)
    const grant = { kind: 'grant', id: 'x-1', owner: owner!, attempt: attempts[0]! } as const
    expect(apply(state, { requests: [grant] }, 0).response.answers).toMatchObject([
      { kind: 'granted', entry: { nonce: firstKept + quarterHour } },
    ])
  })

  test("the state stays below the server's limit while blocks with packed entries fall away", () => {
    const state = paged(laneThatKeeps(lane, entries(quarterHour)))
    const seen = { ...state.observed!, latest: firstKept, height: state.observed!.height + 1, claims: [], since: 1 }
    const { state: fallen, rolledBack } = apply(state, { observe: seen, requests: [] }, 1)
    // One observation rolls back a part of the entries. Later observations roll back the rest as the account's nonce
    // moves.
    expect(rolledBack.length).toBeGreaterThan(1_000)
    expect(rolledBack.length).toBeLessThan(2_000)
    expect(sizeOf(carried(paged(fallen)))).toBeLessThan(1.5 * 1024 * 1024)
    const again = { ...seen, latest: firstKept + 900, height: seen.height + 1 }
    const told = apply(paged(fallen), { observe: again, requests: [] }, 2).rolledBack
    expect(told.length).toBeGreaterThan(0)
    const before = new Set(rolledBack.map(({ nonce }) => nonce))
    expect(told.filter(({ nonce }) => before.has(nonce))).toEqual([])
  })

  test('a request for a packed nonce finds it with its attempts, and finality ends it', () => {
    const state = paged(laneThatKeeps(lane, entries(quarterHour, { attempts: 2 })))
    const one = keptEntry(7_777, { attempts: 2 })
    const found = apply(state, { requests: [{ kind: 'find', id: 'x-1', ...one.owner! }] }, 0)
    expect(found.response.answers).toEqual([{ kind: 'granted', entry: one }])
    expect(kept(found.state).kept).toBe(quarterHour)
    const seen = { ...state.observed!, finalized: firstKept + 9_000, height: state.observed!.height + 1, claims: [], since: 1 }
    const final = apply(found.state, { observe: seen, requests: [] }, 1).state
    expect(kept(final).kept).toBe(quarterHour - 9_000)
    expect(Object.values(unpaged(final).entries)[0]).toEqual(keptEntry(9_000, { attempts: 2 }))
  })

  test('fewer entries with many attempts fit: the lane then waits for finality and says so', () => {
    const state = paged(laneThatKeeps(lane, entries(quarterHour, { attempts: 4, perBlock: 1 })))
    const { keptLimit } = kept(state)
    expect(keptLimit).toBeLessThan(quarterHour)
    const { owner, attempts } = keptEntry(quarterHour)
    const grant = { kind: 'grant', id: 'x-1', owner: owner!, attempt: attempts[0]! } as const
    const { answers, view } = apply(state, { requests: [grant] }, 0).response
    expect(answers).toMatchObject([{ kind: 'refused', why: 'window', detail: expect.stringContaining('wait for finality') }])
    expect(view).toMatchObject({ kept: quarterHour, keptLimit })
  })
})
