import { describe, expect, test } from 'vitest'
import type { BlockHeader } from '../../../chains/port.ts'
import { placeOf } from '../../../domain/stream/places.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { createRangeSize } from '../../../intake/streams/scanned/context.ts'
import { createBlockScanner } from '../../../intake/streams/scanned/scan-blocks.ts'
import { fakeChain, fakeContext, fakeSource, fakeStream } from './fake-context.ts'

const config = { stream: 'cctp:a', origin: '1/0xaa', first: '0', start: 1, maxOpen: 50, placed: true } as const
const headerAt = (height: number): BlockHeader => ({ height, hash: `h${height}`, parentHash: `h${height - 1}`, timestamp: 0 })

function transferAt(height: number): Transfer {
  const [emitter, sequence] = ['33'.padStart(64, '0'), placeOf(height, 0)]
  const digest = `0x${sequence.padStart(64, '0')}`
  return { bridge: 'cctp', sourceChain: 'a', sourceId: 'a', targetChain: 'b', emitter, sequence, digest, message: '' }
}

/**
 * A stream that has read the blocks up to 100. `show` returns the header that one node shows. `at`: heights of blocks
 * with a transfer.
 */
async function network(show: (height: number) => BlockHeader | undefined, at: readonly number[] = []) {
  const { streamClient } = fakeStream(config)
  await streamClient.apply([{ kind: 'scanned', from: 1, to: 100, parentHash: 'h0', hash: 'h100', numbers: [], passed: [] }])
  const asked: string[] = []
  let final = 100
  const chain = fakeChain(0, {
    async block(height, by) {
      asked.push(`${height} ${by}`)
      return by === 'latest' ? show(height) : headerAt(height)
    },
  })
  const source = fakeSource(config, {
    initiated: async ({ fromBlock, toBlock }) =>
      at
        .filter((height) => height >= fromBlock && height <= toBlock)
        .map((height) => ({ transfer: transferAt(height), height, txHash: '' })),
    delivered: async (transfers) => transfers.map(() => false),
  })
  const heads = {
    ...chain.heads,
    get current() {
      return { ...chain.heads.current!, finalized: final }
    },
  }
  const context = fakeContext(config, {
    ...{ streamClient, source, route: undefined, sourceChain: { ...chain, heads } },
    submitter: { submit: async () => ({ id: '', status: 'started' }) },
    ranges: { source: createRangeSize(10), target: createRangeSize(10) },
  })
  const step = createBlockScanner(context, async () => {})
  return {
    asked,
    cursor: () => streamClient.now?.cursor,
    /** Reads blocks while the blocks up to `height` are final. */
    async scan(height: number) {
      final = height
      asked.length = 0
      for (let steps = 0; steps < 10 && (await step()); steps++);
    },
  }
}

describe('the hashes that a stream records', () => {
  test('new blocks without transfers cost no read of most nodes until they are recorded', async () => {
    const { scan, asked, cursor } = await network(headerAt)
    await scan(101)
    expect([asked, cursor()]).toEqual([['101 majority'], { height: 101, hash: 'h101' }])
    await scan(102)
    await scan(104)
    expect([asked, cursor()]).toEqual([['103 latest', '104 latest'], { height: 101, hash: 'h101' }])
  })

  test('the hash of new blocks with a transfer is recorded only if most nodes show it', async () => {
    const lying = await network((height) => ({ ...headerAt(height), hash: height === 102 ? 'false' : `h${height}` }), [102])
    await lying.scan(101)
    await lying.scan(102)
    expect(lying.cursor()).toEqual({ height: 102, hash: 'h102' })
    const honest = await network(headerAt, [102])
    await honest.scan(101)
    await honest.scan(102)
    expect([honest.asked, honest.cursor()]).toEqual([['102 latest', '102 majority'], { height: 102, hash: 'h102' }])
  })

  test.each<[string, (height: number) => BlockHeader | undefined]>([
    ['has no block', () => undefined],
    ['shows another parent', (height) => ({ ...headerAt(height), parentHash: 'false' })],
  ])('if one node %s, most nodes are asked, and the stream continues', async (_, show) => {
    const { scan, asked, cursor } = await network(show, [103])
    await scan(101)
    await scan(102)
    expect(asked).toEqual(['102 latest', '102 majority'])
    await scan(103)
    expect(cursor()).toEqual({ height: 103, hash: 'h103' })
  })

  test('if a false hash of one node was not recorded yet, the next blocks are read again with most nodes', async () => {
    const { scan, cursor } = await network((height) => ({ ...headerAt(height), hash: height === 102 ? 'false' : `h${height}` }), [103])
    await scan(101)
    await scan(102)
    expect(cursor()?.height).toBe(101)
    await scan(103)
    expect(cursor()).toEqual({ height: 103, hash: 'h103' })
  })

  test('while a stream catches up, both ends of each range are read from most nodes', async () => {
    const { scan, asked, cursor } = await network(headerAt)
    await scan(125)
    expect(asked).toEqual(['101 majority', '110 majority', '111 majority', '120 majority', '121 latest', '125 latest'])
    expect(cursor()).toEqual({ height: 120, hash: 'h120' })
  })
})
