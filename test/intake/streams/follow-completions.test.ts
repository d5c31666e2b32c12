import { describe, expect, test } from 'vitest'
import type { BlockRange } from '../../../bridges/port.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { createCompletionFollower } from '../../../intake/streams/scanned/follow-completions.ts'
import { createRangeSize, type ScannedContext } from '../../../intake/streams/scanned/context.ts'
import { fakeChain, fakeContext, fakeSource, fakeStream } from './fake-context.ts'

const config = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', start: 1, maxOpen: 10 }
const transfer: Transfer = {
  ...{ bridge: 'native-bridge', sourceChain: 'a', sourceId: 'a', targetChain: 'b' },
  ...{ emitter: '0'.repeat(64), sequence: '1', digest: `0x${'1'.repeat(64)}`, message: '' },
}

describe('the completions that a stream reads at its target', () => {
  test('completions that one node invents do not shorten the ranges that are read', async () => {
    const { streamClient } = fakeStream(config)
    await streamClient.apply([{ kind: 'completed', numbers: [], from: 0, to: 0 }])
    const reads: [BlockRange, string | undefined][] = []
    const source = fakeSource(config, {
      recorded: async (numbers) => numbers.map(() => transfer),
      async completed(range, at) {
        reads.push([range, at])
        return at === undefined ? [{ number: '1', digest: 'invented', height: range.fromBlock }] : []
      },
    })
    const ranges = { source: createRangeSize(50), target: createRangeSize(50) }
    const route = { source, target: fakeChain(100) }
    const context = fakeContext(config, { streamClient, source, ranges, route }) as ScannedContext
    const follow = createCompletionFollower(context, route)
    for (let steps = 0; steps < 10 && (await follow()); steps++);
    expect(reads).toEqual(
      [
        { fromBlock: 1, toBlock: 50 },
        { fromBlock: 51, toBlock: 100 },
      ].flatMap((range) => [
        [range, undefined],
        [range, 'agreed'],
      ]),
    )
    expect(streamClient.view).toMatchObject({ counts: { unknown: 0, completed: 0 }, alarms: [] })
  })
})
