import { describe, expect, it } from 'vitest'
import { applyToStream, initialStream, viewStream } from '../../domain/stream/reducer.ts'
import type { StreamRequest } from '../../domain/stream/stream.ts'
import { goBack } from '../../streams/scanned/fork.ts'
import { createStreamCache } from '../../streams/scanned/stream-cache.ts'
import type { ScannedContext } from '../../streams/scanned/context.ts'
import { silentLogger } from '../../observability/logger.ts'

const config = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', start: 1, maxOpen: 50 }
const hash = (height: number) => `h${height}`

/** A stream with a transfer in each tenth block up to 200, whose chain is as it was. */
function world() {
  let state = initialStream(config)
  const cache = createStreamCache()
  const apply = async (requests: readonly StreamRequest[]) => {
    const told = applyToStream(state, { requests }, 1)
    state = told.state
    return told.response
  }
  const block = async (height: number) => ({ height, hash: hash(height), parentHash: hash(height - 1), timestamp: 0 })
  const context = {
    source: { config },
    sourceChain: { block, heads: { current: { finalized: 200 } } },
    streamClient: { state: async () => state, apply },
    cache,
    logger: silentLogger(),
  } as unknown as ScannedContext
  const scan = async (height: number) => {
    const numbers = height % 10 === 0 ? [[String(height / 10), height] as const] : []
    await apply([{ kind: 'scanned', from: height, to: height, parentHash: hash(height - 1), hash: hash(height), numbers, passed: [] }])
    cache.scanned({ height, hash: hash(height) })
  }
  return { context, apply, scan, state: () => state }
}

describe('a source that counts fewer transfers than its logs had shown', () => {
  it.each([
    ['with what this process remembers', false],
    ['with nothing to remember', true],
  ])('is read again from below the first that is gone, at the first look, %s', async (_, forgets) => {
    const { context, apply, scan, state } = world()
    for (let height = 1; height <= 200; height++) await scan(height)
    if (forgets) context.cache.forget(0)
    const { view } = await apply([{ kind: 'audited', upTo: '12', height: 200, present: [] }])
    expect([view.alarms, view.next]).toEqual([['vanished'], '21'])
    await goBack(context, true)
    const { cursor, next, vanished } = state()
    expect([vanished, next]).toEqual([undefined, '13'])
    expect(cursor?.height).toBeLessThan(130)
    // The next audit finds nothing amiss.
    const after = await apply([{ kind: 'audited', upTo: '12', height: 200, present: [] }])
    expect(after.view.alarms).toEqual([])
    expect(viewStream(state()).next).toBe('13')
  })
})
