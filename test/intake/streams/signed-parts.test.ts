import { describe, expect, test } from 'vitest'
import type { Block, HeadEvent } from '../../../chains/port.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { fromCheckpoint, type StreamCheckpoint } from '../../../domain/stream/checkpoint.ts'
import { initialStream, viewStream } from '../../../domain/stream/reducer.ts'
import { bootstrapSigned } from '../../../intake/streams/signed/bootstrap.ts'
import { classifications, type GapClass } from '../../../intake/streams/signed/gaps/record-fetched.ts'
import { createTailProof } from '../../../intake/streams/signed/audit/audit-schedule.ts'
import { codeOfAsync } from '../../helpers/refusals.ts'

describe('where the stream of an emitter begins', () => {
  const source = (highest?: string, first?: string) => ({
    config: { stream: 'wormhole-token-bridge:a:b', origin: '1/0xaa', first: first ?? '0', maxOpen: 10 },
    begins: { ...(first !== undefined && { first }) },
    highest: async () => highest,
  })
  const checkpoint = (completedNumber?: string): StreamCheckpoint => ({
    version: 1,
    stream: 'wormhole-token-bridge:a:b',
    origin: '1/0xaa',
    ...(completedNumber !== undefined && { completedNumber }),
    exceptions: [],
  })
  const begin = async (from: ReturnType<typeof source>, kept?: StreamCheckpoint | Error, found?: string) => {
    const problems: unknown[] = []
    const read = async () => {
      if (kept instanceof Error) throw kept
      return kept
    }
    const complain = (problem: unknown) => void problems.push(problem)
    const input = await bootstrapSigned(from, { read, complain }, async () => found)
    const state = input.checkpoint ? fromCheckpoint(input.config, input.checkpoint) : initialStream(input.config)
    return { next: viewStream(state).next, problems: problems.length, ...(input.distrusted && { distrusted: input.distrusted.number }) }
  }

  test.each([
    ['at nothing, if nothing was published', undefined, undefined, '0'],
    ['at nothing, if there is less than a thousand', '998', undefined, '0'],
    ['a thousand below the next', '18446744073709551614', undefined, '18446744073709550615'],
    ['where the config says', '5000', '17', '17'],
  ])('the stream of an emitter begins %s', async (_, highest, first, next) =>
    expect(await begin(source(highest, first))).toEqual({ next, problems: 0 }),
  )

  test('the stream of an emitter begins with the first number of the last days, or the latest thousand', async () => {
    expect(await begin(source('5000'), undefined, '12')).toEqual({ next: '12', problems: 0 })
    expect(await begin(source('5000'), undefined, '4800')).toEqual({ next: '4001', problems: 0 })
    // The config's start and a checkpoint take precedence over the first number of the last days.
    expect(await begin(source('5000', '17'), undefined, '12')).toEqual({ next: '17', problems: 0 })
    expect(await begin(source('5000'), checkpoint('1234'), '12')).toEqual({ next: '1235', problems: 0 })
  })

  test('the stream of an emitter begins above the watermark of a checkpoint of any age', async () => {
    expect(await begin(source('5000'), checkpoint('1234'))).toEqual({ next: '1235', problems: 0 })
    expect(await begin(source('5000', '17'), checkpoint('1234'))).toEqual({ next: '1235', problems: 0 })
    expect(await begin(source('5000'), checkpoint())).toEqual({ next: '4001', problems: 0 })
  })

  test('the stream of an emitter ignores a checkpoint that is broken or of another network', async () => {
    expect(await begin(source('5000'), new Error('broken'))).toEqual({ next: '4001', problems: 1 })
    expect(await begin(source('5000'), checkpoint('5001'))).toEqual({ next: '4001', problems: 1, distrusted: '5001' })
    expect(await begin(source(), checkpoint('0'))).toEqual({ next: '0', problems: 1, distrusted: '0' })
  })

  test('the stream of an emitter does not begin while its checkpoint cannot be read', async () => {
    const away = new RelayerError('CHECKPOINT_UNAVAILABLE')
    expect(await codeOfAsync(() => begin(source('5000'), away))).toBe('CHECKPOINT_UNAVAILABLE')
    // A stream with a start in the config can begin without its checkpoint, which would only save reads.
    expect(await begin(source('5000', '17'), away)).toEqual({ next: '17', problems: 1 })
  })

  test('the stream of an emitter does not begin while its source cannot be read', async () => {
    const silent = { ...source(), highest: () => Promise.reject(new Error('no node')) }
    await expect(bootstrapSigned(silent, { read: async () => checkpoint('5'), complain: () => {} }, async () => undefined)).rejects.toThrow(
      'no node',
    )
  })
})

describe('the names of gaps', () => {
  const gap = (from: string, to: string, state: GapClass) => ({ from, to, state, at: 1 })

  test('gaps are classified by stretches, and only if their class is new', () => {
    const names = new Map<string, GapClass>([
      ['12', 'held'],
      ['9', 'held'],
      ['10', 'held'],
      ['11', 'unobserved'],
      ['20', 'unobserved'],
      ['18446744073709551615', 'not-final'],
      ['18446744073709551614', 'not-final'],
    ])
    expect(classifications(names, [gap('9', '12', 'not-final'), gap('15', '30', 'unobserved')])).toEqual([
      { kind: 'classified', from: '9', to: '10', state: 'held' },
      { kind: 'classified', from: '11', to: '11', state: 'unobserved' },
      { kind: 'classified', from: '12', to: '12', state: 'held' },
      { kind: 'classified', from: '18446744073709551614', to: '18446744073709551615', state: 'not-final' },
    ])
    expect(classifications(new Map(), [gap('1', '2', 'held')])).toEqual([])
  })
})

describe('the proof of what was signed before a subscription', () => {
  function network() {
    const listeners = new Set<(event: HeadEvent) => void>()
    let current: HeadEvent | undefined
    const heads = {
      get current() {
        return current
      },
      subscribe(listener: (event: HeadEvent) => void) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    }
    const block = (height: number): Block => ({
      height,
      hash: `0x${height}`,
      parentHash: `0x${height - 1}`,
      timestamp: height,
      transactions: [],
    })
    const tell = (latest: number, finalized: number) => {
      current = { applied: [], rolledBack: [], latest: block(latest), finalized }
      for (const listener of listeners) listener(current)
    }
    return { tail: createTailProof(heads), tell, listeners }
  }

  test('the proof of the tail is due once, when the head after the subscription is final', () => {
    const { tail, tell, listeners } = network()
    tell(10, 8)
    expect(tail.isDue()).toBe(false)
    tail.begin()
    tell(11, 9)
    tell(12, 10)
    tell(13, 11)
    expect(tail.isDue()).toBe(false)
    tell(14, 12)
    expect(tail.isDue()).toBe(true)
    const done = tail.take()
    expect(tail.isDue()).toBe(true)
    done()
    expect(tail.isDue()).toBe(false)
    tail.close()
    expect(listeners.size).toBe(0)
  })

  test('the proof of the tail does not count for a later subscription, or before it is due', () => {
    const { tail, tell } = network()
    tail.begin()
    const early = tail.take()
    early()
    tell(10, 10)
    tell(11, 11)
    expect(tail.isDue()).toBe(true)
    const done = tail.take()
    tail.begin()
    done()
    tell(12, 12)
    expect(tail.isDue()).toBe(false)
    tell(13, 13)
    expect(tail.isDue()).toBe(true)
  })
})
