import { describe, expect, test } from 'vitest'
import { initialStream, viewStream } from '../../../domain/stream/reducer.ts'
import type { StreamRequest } from '../../../domain/stream/stream.ts'
import { goBack } from '../../../intake/streams/scanned/fork.ts'
import { fakeChain, fakeContext, fakeStream } from './fake-context.ts'

const config = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', start: 1, maxOpen: 50 }
const hash = (height: number) => `h${height}`

function network() {
  const { streamClient } = fakeStream(config)
  const block = async (height: number) => ({ height, hash: hash(height), parentHash: hash(height - 1), timestamp: 0 })
  const context = fakeContext(config, { streamClient, sourceChain: fakeChain(200, { block }) })
  const scan = async (height: number) => {
    const numbers = height % 10 === 0 ? [[String(height / 10), height] as const] : []
    await streamClient.apply([
      { kind: 'scanned', from: height, to: height, parentHash: hash(height - 1), hash: hash(height), numbers, passed: [] },
    ])
    context.cache.scanned({ height, hash: hash(height) })
  }
  const state = () => streamClient.now ?? initialStream(config)
  return { context, apply: (requests: readonly StreamRequest[]) => streamClient.apply(requests), scan, state }
}

describe('a source that counts fewer transfers than its logs had shown', () => {
  test.each([
    ['with what this process remembers', false],
    ['with nothing to remember', true],
  ])('a source that lost transfers is read again from below the first lost one, %s', async (_, forgets) => {
    const { context, apply, scan, state } = network()
    for (let height = 1; height <= 200; height++) await scan(height)
    if (forgets) context.cache.forget(0)
    const { view } = await apply([{ kind: 'audited', upTo: '12', height: 200, present: [] }])
    expect([view.alarms, view.next]).toEqual([['vanished'], '21'])
    await goBack(context, true)
    const { cursor, next, vanished } = state()
    expect([vanished, next]).toEqual([undefined, '13'])
    expect(cursor?.height).toBeLessThan(130)
    const after = await apply([{ kind: 'audited', upTo: '12', height: 200, present: [] }])
    expect(after.view.alarms).toEqual([])
    expect(viewStream(state()).next).toBe('13')
  })
})

test('after a fork, a lying node does not make a stream read more blocks than the fork replaced', async () => {
  const { context, scan, state } = network()
  for (let height = 1; height <= 200; height++) await scan(height)
  const block = async (height: number, at: 'latest' | 'agreed' | 'majority') => {
    if (at === 'latest') return undefined
    const isReplaced = height > 190
    return { height, hash: isReplaced ? 'another' : hash(height), parentHash: hash(height - 1), timestamp: 0 }
  }
  await goBack({ ...context, sourceChain: { ...context.sourceChain, block } })
  expect(state().cursor).toEqual({ height: 190, hash: hash(190) })
})
