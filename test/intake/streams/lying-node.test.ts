import { describe, expect, test } from 'vitest'
import { createNativeSource } from '../../../bridges/native-bridge/streams.ts'
import { nativeBridgeAbi } from '../../../bridges/native-bridge/contracts.ts'
import { idOf } from '../../../bridges/native-bridge/message.ts'
import { viewStream } from '../../../domain/stream/reducer.ts'
import { createRangeSize } from '../../../intake/streams/scanned/context.ts'
import { createBlockScanner } from '../../../intake/streams/scanned/scan-blocks.ts'
import { recordingLogger } from '../../helpers/recording-logger.ts'
import { type Lie, type RawBlock, resealed, startThreeNodes, trueBlocks } from '../../helpers/three-nodes.ts'
import { fakeContext, fakeSource, fakeStream } from './fake-context.ts'

const bridge = `0x${'11'.repeat(20)}`
const route = { sourceChain: 'a', sourceNetworkId: '1', sourceBridge: bridge, targetChain: 'b', targetBridge: `0x${'22'.repeat(20)}` }
const placed = { stream: 'cctp:a', origin: '1/0xaa', first: '0', start: 100, maxOpen: 50, placed: true } as const

/** A stream that has read the blocks up to `cursor`, of a chain with three nodes. */
async function network(latest: number, cursor: number, { isNative = false, ...nodes }: { isNative?: boolean; count?: number } = {}) {
  const three = await startThreeNodes(latest, nodes)
  const { chain } = three
  const native = createNativeSource({ route, source: chain, target: chain, startBlock: 100, maxOpen: 50, verified: { add() {} } })
  const source = isNative ? native : fakeSource(placed, { initiated: async () => [] })
  const { streamClient } = fakeStream(source.config)
  const { logger, lines } = recordingLogger('warn')
  const context = fakeContext(source.config, {
    ...{ source, sourceChain: chain, streamClient },
    ...(!isNative && { route: undefined }),
    ranges: { source: createRangeSize(200), target: createRangeSize(200) },
    logger,
  })
  const { hash } = trueBlocks(cursor)[cursor]!
  if (isNative) await streamClient.apply([{ kind: 'completed', numbers: [], from: 0, to: 0 }])
  await streamClient.apply([
    { kind: 'scanned', from: 100, to: cursor, parentHash: trueBlocks(99)[99]!.hash, hash, numbers: [], passed: [] },
  ])
  return {
    ...{ ...three, lines, context },
    view: () => viewStream(streamClient.now!),
    /** Reads one range after another. Each scanner is new, because a new one records even an empty range at once. */
    async scan(): Promise<readonly number[]> {
      const cursors: number[] = []
      for (let isMore: boolean | undefined = true; isMore && cursors.length < 100;) {
        isMore = await createBlockScanner(context, async () => {})()
        cursors.push(streamClient.now?.cursor?.height ?? -1)
      }
      return cursors
    },
    expectTrueCursor(height: number): void {
      expect(streamClient.now?.cursor).toEqual({ height, hash: trueBlocks(height)[height]?.hash })
    },
  }
}

const withFalseParent: Lie = (block) => resealed({ ...block, parentHash: `0x${'ab'.repeat(32)}` })
const withFalseContent: Lie = (block) => resealed({ ...block, extraData: '0x01' })
const allUp = [1, 2, 3].map(() => ['up', 0])

describe('a stream whose source has one lying node of three, which is asked first', () => {
  test.each<[string, Lie]>([
    ['says that the source has none of the blocks that are asked for', () => null],
    ['shows blocks with false parents', withFalseParent],
    ['shows blocks with false hashes', withFalseContent],
  ])('a stream follows finality although one node of three %s', async (_, lie) => {
    const { state, scan, grow, view, finalized, health, lines, expectTrueCursor } = await network(1_000, 896)
    state.lie = lie
    for (const latest of [1_000, 1_040, 1_120]) {
      await grow(latest)
      await scan()
      expectTrueCursor(finalized())
    }
    expect(state.lies).toBeGreaterThan(0)
    expect([view().alarms, view().counts.forks, lines]).toEqual([[], 0, []])
    expect(health()).toEqual(allUp)
  })

  test('a stream that catches up stores no hash that only one node of three shows', async () => {
    const { state, scan, lines, finalized, expectTrueCursor } = await network(3_000, 896)
    state.lie = (block, height) => (height % 10 === 6 ? withFalseContent(block, height) : block)
    const cursors = await scan()
    expect(cursors).toEqual(cursors.toSorted((a, b) => a - b))
    expectTrueCursor(finalized())
    expect([state.lies, lines]).toEqual([expect.any(Number), []])
  })

  test('hashes of one node that fit each other do not make a stream read its blocks again', async () => {
    const { state, scan, finalized, expectTrueCursor } = await network(3_000, 896)
    const forged = new Map<number, RawBlock>()
    state.lie = (block, height) => {
      const parent = forged.get(height - 1)
      const shown = parent ? resealed({ ...block, parentHash: parent.hash }) : (withFalseContent(block, height) as RawBlock)
      forged.set(height, shown)
      // Later, the hashes are true, so that they do not follow the cursor.
      return height > 2_496 ? block : shown
    }
    expect(Math.min(...(await scan()))).toBeGreaterThan(896)
    expectTrueCursor(finalized())
  })

  test('a chain with one node is asked once for each block, and its stream follows finality', async () => {
    const { state, scan, finalized, expectTrueCursor } = await network(1_500, 896, { count: 1 })
    expect(await scan()).toEqual([1_096, 1_296, finalized()])
    expectTrueCursor(finalized())
    expect(state.asked).toEqual([897, 1_096, 1_097, 1_296, 1_297, finalized()])
  })
})

describe('a native stream whose source has one lying node of three, which is asked first', () => {
  const transfer = { initiator: `0x${'33'.repeat(20)}`, recipient: `0x${'44'.repeat(32)}`, amount: 5n, nonce: 1n }
  const event = (id: string) =>
    nativeBridgeAbi.encodeEventLog('BridgeTransferInitiated', [id, transfer.initiator, transfer.recipient, 5n, 1n])
  const good = { address: bridge, ...event(idOf(transfer)) }

  test.each([
    ['a log of another contract', { ...good, address: `0x${'99'.repeat(20)}` }],
    ['a log of a later block', { ...good, blockNumber: '0x10000' }],
    ['a malformed event', { ...good, data: `${good.data}00` }],
    ['an event whose id does not fit its content', { ...good, ...event(`0x${'55'.repeat(32)}`) }],
    ['an event of a transfer that the source never recorded', good],
  ])('a native stream passes %s that only one node of three shows', async (_, log) => {
    const { state, scan, view, finalized, health, context, lines, expectTrueCursor } = await network(1_120, 896, { isNative: true })
    const [{ hash } = { hash: '' }] = trueBlocks(940).slice(940)
    state.logs = [{ blockNumber: '0x3ac', blockHash: hash, logIndex: '0x0', transactionHash: hash, ...log }]
    expect(await scan()).toEqual([finalized()])
    expectTrueCursor(finalized())
    expect([view().next, view().gaps, [...context.alarms], lines]).toEqual(['1', {}, [], []])
    expect(context.ranges.source.blocks).toBe(200)
    expect(health()).toEqual(allUp)
  })
})
