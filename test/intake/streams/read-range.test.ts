import { describe, expect, test } from 'vitest'
import type { PlacedTransfer } from '../../../bridges/port.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { assertStreamUpdate } from '../../../domain/stream/request.ts'
import { listsAllOrders } from '../../../domain/stream/numbers.ts'
import { placeOf } from '../../../domain/stream/places.ts'
import type { StreamConfig, StreamRequest, StreamState } from '../../../domain/stream/stream.ts'
import { readRange } from '../../../intake/streams/scanned/read-range.ts'
import { type EndedRun, temporalWith } from './ended-runs.ts'
import { fakeContext, fakeSource, fakeStream } from './fake-context.ts'

const config: StreamConfig = { stream: 'cctp:a:b', origin: '1/0xaa', first: '0', start: 1, maxOpen: 50, placed: true }
const bridge = 'native-bridge'

function transferAt(height: number, index: number): PlacedTransfer {
  const sequence = placeOf(height, index)
  const digest = `0x${sequence.padStart(64, '0')}`
  const message = Buffer.from(sequence).toString('base64')
  const transfer = { bridge, sourceChain: 'a', sourceId: 'a', targetChain: 'b', emitter: '33'.padStart(64, '0'), sequence, digest, message }
  return { transfer, height, txHash: `0x${sequence}` }
}

/**
 * A placed stream whose source has these transfers. While the agent waits for room, `onFull` says what happens to the
 * open numbers: they end declined, move outside the window, or stay. `restore`: Temporal first goes back to the time
 * before the range, and later the numbers end declined.
 */
function network(placed: readonly PlacedTransfer[], onFull: 'decline' | 'park' | 'restore' | 'stay' = 'stay', delivered = false) {
  const { streamClient, requests } = fakeStream(config)
  const ended = new Map<string, EndedRun>()
  const submitted: string[] = []
  const runs = new Set<string>()
  let backup = streamClient.now
  let waits = 0
  const submitter = {
    async submit(_: string, message: Uint8Array) {
      const number = Buffer.from(message).toString()
      submitted.push(number)
      const status = runs.has(number) || ended.has(number) ? ('known' as const) : ('started' as const)
      runs.add(number)
      return { id: number, status }
    },
  }
  const initiated = async ({ fromBlock, toBlock }: { fromBlock: number; toBlock: number }) =>
    placed.filter(({ height }) => height >= fromBlock && height <= toBlock)
  const source = fakeSource(config, { initiated, delivered: async (all) => all.map(() => delivered) })
  const changed = async () => {
    if (++waits > 200) throw new Error('the stream has no room after 200 changes')
    const open = streamClient.now?.open ?? []
    if (onFull === 'restore' && waits === 1) {
      streamClient.now = backup
      return runs.clear()
    }
    if (onFull === 'decline' || onFull === 'restore') {
      for (const { number } of open) ended.set(number, { state: 'declined', reason: 'for another caller' })
      await streamClient.apply(open.map(({ number }) => ({ kind: 'closed', number, outcome: 'declined', reason: 'for another caller' })))
    }
    if (onFull === 'park')
      await streamClient.apply(open.map(({ number }) => ({ kind: 'parked', number, code: 'CCTP_PENDING', waits: true })))
  }
  const apply: typeof streamClient.apply = (some) => {
    assertStreamUpdate({ requests: some })
    return streamClient.apply(some)
  }
  const stream = Object.create(streamClient, { apply: { value: apply }, changed: { value: changed } }) as typeof streamClient
  const context = fakeContext(config, { route: undefined, streamClient: stream, submitter, source, client: temporalWith(ended) })
  return {
    ...{ submitted, requests, ended, runs },
    prepare: (some: readonly StreamRequest[]) => streamClient.apply(some),
    /** Reads the blocks as the scan does, and reports them to the stream. */
    async scan(from: number, to: number, live = true): Promise<StreamState | undefined> {
      backup = streamClient.now
      const reading = await readRange(context, { fromBlock: from, toBlock: to }, live, streamClient.era)
      if (typeof reading === 'string') throw new Error(reading)
      const response = await apply([{ kind: 'scanned', from, to, parentHash: 'h', hash: 'h', ...reading }])
      expect(response.answers).toEqual([{ kind: 'done' }])
      return streamClient.now
    },
  }
}

const cancelled = { state: 'cancelled', cancelledBy: { by: 'me', reason: 'a test' } } as const
const inOneBlock = (count: number) => Array.from({ length: count }, (_, index) => transferAt(3, 2 * index))
const numbersOf = (placed: readonly PlacedTransfer[]) => placed.map(({ transfer }) => transfer.sequence)

describe('reading a range of blocks of a placed stream', () => {
  test('transfers that end while others wait for free places are started once, and the range ends', async () => {
    const placed = inOneBlock(400)
    const { scan, submitted } = network(placed, 'decline')
    const state = await scan(1, 5)
    expect(submitted).toEqual(numbersOf(placed))
    expect(state).toMatchObject({ cursor: { height: 5 }, gaps: [], counts: { declined: 350 } })
    expect(state?.open.length).toBe(50)
  })

  test('a process that reads a range again closes the ended transfers, which then take no place', async () => {
    const placed = inOneBlock(400)
    const { scan, ended } = network(placed)
    for (const number of numbersOf(placed).slice(0, 350)) ended.set(number, { state: 'declined', reason: 'for another caller' })
    const state = await scan(1, 5)
    expect(state?.open.map(({ number }) => number)).toEqual(numbersOf(placed).slice(350))
    expect(state).toMatchObject({ cursor: { height: 5 }, counts: { declined: 350 } })
  })

  test('a range that is read again counts each cancelled number once, so that audits know all orders', async () => {
    const placed = inOneBlock(400)
    const first = network(placed)
    const end = ({ ended }: typeof first) => {
      for (const [index, number] of numbersOf(placed).slice(0, 350).entries())
        ended.set(number, index % 10 === 0 ? cancelled : { state: 'declined', reason: 'for another caller' })
    }
    end(first)
    await first.scan(1, 5)
    const second = network(placed)
    end(second)
    await second.prepare(first.requests.flat().filter(({ kind }) => kind !== 'scanned'))
    const state = await second.scan(1, 5)
    expect(state?.counts.cancelled).toBe(35)
    expect(listsAllOrders(state!)).toBe(true)
  })

  test('numbers that Temporal forgets while others wait for free places are started again', async () => {
    const placed = inOneBlock(120)
    const { scan, runs } = network(placed, 'restore')
    const state = await scan(1, 5)
    expect(numbersOf(placed).filter((number) => !runs.has(number))).toEqual([])
    expect(state?.cursor?.height).toBe(5)
  })

  test('two thousand ended transfers are closed in updates of at most 300 requests', async () => {
    const placed = inOneBlock(2_000)
    const first = network(placed, 'park')
    await first.scan(3, 3)
    const second = network(placed)
    await second.prepare(first.requests.flat().filter(({ kind }) => kind !== 'scanned'))
    second.requests.length = 0
    for (const number of numbersOf(placed)) second.ended.set(number, { state: 'declined', reason: 'for another caller' })
    await second.scan(3, 3)
    expect(Math.max(...second.requests.map(({ length }) => length))).toBe(300)
    expect(second.requests.flat().filter(({ kind }) => kind === 'closed').length).toBe(2_000)
  })

  test('the cursor passes a block with more transfers than one read records', async () => {
    const placed = inOneBlock(2_500)
    const { scan, submitted } = network(placed, 'park')
    const state = await scan(3, 3)
    expect(submitted).toEqual(numbersOf(placed))
    expect(state?.cursor?.height).toBe(3)
  })

  test('the cursor also passes such a block if it is read again after all its transfers were started', async () => {
    const placed = inOneBlock(2_500)
    const first = network(placed, 'park')
    await first.scan(3, 3)
    const seen = first.requests.flat().filter(({ kind }) => kind !== 'scanned')
    const second = network(placed, 'park')
    await second.prepare(seen)
    expect((await second.scan(3, 3))?.cursor?.height).toBe(3)
  })

  test('a range with more than a thousand delivered transfers is recorded', async () => {
    const placed = Array.from({ length: 1_500 }, (_, index) => transferAt(1 + (index % 10), 2 * index))
    const { scan, submitted } = network(placed, 'stay', true)
    const state = await scan(1, 10, false)
    expect([submitted, state?.open, state?.cursor?.height]).toEqual([[], [], 10])
  })
})

test('a range of a native source about which its nodes disagree is read in halves, and a block is not', async () => {
  const native: StreamConfig = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', start: 1, maxOpen: 50 }
  const source = fakeSource(native, { initiated: () => Promise.reject(new RelayerError('NODES_DISAGREE')) })
  const context = fakeContext(native, { source })
  expect(await readRange(context, { fromBlock: 1, toBlock: 10 }, false, 0)).toBe('too-long')
  expect(context.ranges.source.blocks).toBe(5)
  await expect(readRange(context, { fromBlock: 1, toBlock: 1 }, false, 0)).rejects.toMatchObject({ code: 'NODES_DISAGREE' })
})
