import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BlockRange, Bridge, PlacedTransfer, ScannedSource } from '../../bridges/port.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'

/** A scanned source on real chains. At first it has no transfers. */
export interface ScannedSourceHarness {
  readonly source: ScannedSource
  readonly bridge: Bridge
  /** Sends transfers as users. The transfers are in blocks that are not final. */
  start(count: number): Promise<void>
  /** Makes the latest block of the source or target final. Resolves with the height of this block. */
  finalise(end: 'source' | 'target'): Promise<number>
  /** Delivers the transfers in a block of the target that is not final. */
  deliver(transfers: readonly Transfer[]): Promise<void>
  stop(): Promise<void>
}

const count = 6

export function scannedSourceSuite(name: string, start: () => Promise<ScannedSourceHarness>): void {
  describe(`the scanned source of ${name}`, () => {
    let harness: ScannedSourceHarness
    let source: ScannedSource
    let found: readonly PlacedTransfer[]
    let range: BlockRange
    const transfers = () => found.map(({ transfer }) => transfer)
    const numbers = () => transfers().map(({ sequence }) => sequence)
    const first = () => BigInt(source.config.first)
    const number = (place: number) => String(first() + BigInt(place))

    beforeAll(async () => {
      harness = await start()
      ;({ source } = harness)
    })
    afterAll(() => harness?.stop())

    test('a scanned source names its stream, and where that begins', () => {
      expect(source.config).toEqual({
        stream: expect.stringMatching(new RegExp(`^${source.bridge}:${source.sourceChain}:`)),
        // The origin contains network and contract, so that a checkpoint of another source is detected.
        origin: expect.stringMatching(/^.+\/.+$/),
        first: expect.stringMatching(/^[01]$/),
        start: expect.any(Number),
        maxOpen: expect.any(Number),
      })
      expect([source.bridge, source.kind]).toEqual([harness.bridge.name, 'scanned'])
    })

    test('a scanned source is empty before the first transfer', async () => {
      const toBlock = await harness.finalise('source')
      expect(await source.highest()).toBeUndefined()
      expect(await source.initiated({ fromBlock: 0, toBlock })).toEqual([])
      expect(await source.completed({ fromBlock: 0, toBlock: await harness.finalise('target') })).toEqual([])
      expect(await source.recorded([number(0)], 'finalized')).toEqual([undefined])
      expect([await source.delivered([]), await source.recorded([], 'agreed')]).toEqual([[], []])
    })

    test('a scanned source shows no transfer that is not final', async () => {
      const before = await harness.finalise('source')
      await harness.start(count)
      expect(await source.recorded([number(0)], 'finalized')).toEqual([undefined])
      expect(await source.highest()).toBeUndefined()
      range = { fromBlock: before + 1, toBlock: await harness.finalise('source') }
    })

    test('a scanned source finds the transfers of a range in order, with their blocks, and none outside it', async () => {
      found = await source.initiated(range)
      expect(numbers()).toEqual(Array.from({ length: count }, (_, place) => number(place)))
      for (const one of found) {
        const { height } = one
        expect(height).toBeGreaterThanOrEqual(range.fromBlock)
        expect(height).toBeLessThanOrEqual(range.toBlock)
        expect(await source.initiated({ fromBlock: height, toBlock: height })).toContainEqual(one)
      }
      expect(await source.initiated({ fromBlock: 0, toBlock: range.fromBlock - 1 })).toEqual([])
    })

    test('the table and the blocks of the source agree about a number, in the sequence of the question', async () => {
      const asked = [...numbers().toReversed(), number(count)]
      const expected = [...transfers().toReversed(), undefined]
      expect(await source.recorded(asked, 'finalized')).toEqual(expected)
      expect(await source.recorded(asked, 'agreed')).toEqual(expected)
    })

    test('a scanned source finds the highest number from any known one, also from one that is gone', async () => {
      const highest = number(count - 1)
      for (const known of [undefined, number(0), number(1), highest, number(count), number(count + 40)])
        expect([known, await source.highest(known)]).toEqual([known, highest])
    })

    test('a scanned source gives messages that its bridge reads as the same transfers and finds valid', async () => {
      for (const transfer of transfers()) {
        const message = Buffer.from(transfer.message, 'base64')
        expect(harness.bridge.decode(message)).toEqual(transfer)
        expect([transfer.bridge, transfer.sourceChain, transfer.targetChain]).toEqual([
          source.bridge,
          source.sourceChain,
          source.targetChain,
        ])
        expect(await harness.bridge.endpoints.get(source.targetChain)!.verify(message)).toMatchObject({ kind: 'valid' })
      }
    })

    test('a source reports the transfers that the finalized target shows, in the sequence of the question', async () => {
      const before = await harness.finalise('target')
      const done = transfers().filter((_, place) => place % 2 === 1)
      await harness.deliver(done)
      expect(await source.delivered(transfers())).toEqual(transfers().map(() => false))
      const toBlock = await harness.finalise('target')
      expect(await source.delivered(transfers())).toEqual(transfers().map((transfer) => done.includes(transfer)))
      const completed = await source.completed({ fromBlock: before + 1, toBlock })
      expect(completed.map(({ number: one, digest }) => [one, digest])).toEqual(done.map(({ sequence, digest }) => [sequence, digest]))
      for (const { height } of completed) expect(height > before && height <= toBlock).toBe(true)
      expect(await source.completed({ fromBlock: 0, toBlock: before })).toEqual([])
    })
  })
}
