import { status } from '@grpc/grpc-js'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startSpy, type Spy } from '../../../lab/devnet/wormhole/spy.ts'
import { until } from '../../../lab/devnet/until.ts'
import { subscribe, type SpyStream } from './spy-client.ts'

const emitterA = 'aa'.repeat(32)
const emitterB = 'bb'.repeat(32)
const filter = (chainId: number, emitterAddress: string) => ({ emitterFilter: { chainId, emitterAddress } })
const vaa = (first: number) => Uint8Array.of(first, 1, 2, 3)

describe('the spy', () => {
  let spy: Spy
  const open: SpyStream[] = []

  beforeEach(async () => {
    // One process runs the server and both readers, so the quick reader needs a long time-out.
    spy = await startSpy({ sendTimeoutMs: 10_000 })
  })

  afterEach(async () => {
    for (const stream of open.splice(0)) stream.close()
    await spy.stop()
  })

  async function join(filters: readonly object[] = []): Promise<SpyStream> {
    const before = spy.subscribers
    const stream = subscribe(spy.address, filters)
    open.push(stream)
    await until(() => spy.subscribers > before || stream.error !== undefined, { timeoutMs: 60_000, what: 'the subscription' })
    return stream
  }

  test('the spy sends everything to a subscriber without filters', async () => {
    const stream = await join()
    spy.publish(vaa(1), 2, emitterA)
    spy.publish(vaa(2), 40_000, emitterB)
    await stream.until(2)
    expect(stream.received.map((bytes) => bytes[0])).toEqual([1, 2])
  })

  test('the spy sends a message once per matching filter', async () => {
    const stream = await join([filter(2, emitterA), filter(4, emitterB), filter(2, `0x${emitterA.toUpperCase()}`)])
    spy.publish(vaa(1), 2, emitterB)
    spy.publish(vaa(2), 4, emitterB)
    spy.publish(vaa(3), 2, emitterA)
    await stream.until(3)
    expect(stream.received.map((bytes) => bytes[0])).toEqual([2, 3, 3])
  })

  test('the spy of the devnet replays nothing', async () => {
    spy.publish(vaa(1), 2, emitterA)
    const stream = await join()
    spy.publish(vaa(2), 2, emitterA)
    await stream.until(1)
    expect(stream.received[0]?.[0]).toBe(2)
  })

  test.each([
    ['a batch filter', { batchFilter: { chainId: 2, nonce: 1 } }, 'unsupported filter type'],
    ['an empty entry', {}, 'unsupported filter type'],
    ['an address that is no hex', filter(2, 'zz'), 'failed to decode emitter address'],
    ['an address that is too long', filter(2, 'aa'.repeat(33)), 'failed to decode emitter address'],
    ['a chain id past 16 bits', filter(65_536, emitterA), 'emitter chain id must be a valid 16 bit unsigned integer'],
  ])('the spy of the devnet refuses %s', async (_, entry, details) => {
    const stream = await join([filter(2, emitterA), entry])
    expect(await stream.ended()).toMatchObject({ code: status.INVALID_ARGUMENT, details })
    expect(spy.subscribers).toBe(0)
  })

  test('the spy drops a reader that does not take its messages, and keeps the others', async () => {
    const slow = await join()
    const quick = await join()
    slow.pause()
    // More bytes than all buffers of both ends can hold.
    const big = new Uint8Array(1_000_000)
    for (let sent = 0; sent < 20; sent++) spy.publish(big, 2, emitterA)
    await quick.until(20)
    await until(() => spy.subscribers < 2, { timeoutMs: 60_000, what: 'the slow reader to be dropped' })
    expect(spy.subscribers).toBe(1)
    expect(quick.error).toBeUndefined()
  })

  test('the spy comes back on the same address after a restart', async () => {
    const before = await join()
    await spy.stop()
    expect(await before.ended()).toBeDefined()
    await spy.start()
    const after = await join()
    spy.publish(vaa(7), 2, emitterA)
    await after.until(1)
  })
})
