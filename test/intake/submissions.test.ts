import { afterEach, describe, expect, test } from 'vitest'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { SubmitResult } from '../../intake/submit/submitter.ts'
import { type Outcome, Submissions } from '../../intake/submit/submissions.ts'

const waitLimit = { timeout: 40_000 }
const open: Submissions[] = []

/** An attempt that is still running would continue for ever in the faked time of later test files. */
afterEach(async () => {
  for (const submissions of open.splice(0)) await submissions.close(0)
})

function network(
  options: { concurrency?: number; limit?: number; limitBytes?: number; limitUnknown?: number; limitUnknownBytes?: number } = {},
) {
  const outcomes: Outcome[] = []
  const fullness: boolean[] = []
  const troubles: (string | undefined)[] = []
  const tried: string[] = []
  let answer: (name: string) => Promise<SubmitResult> = async (id) => ({ id, status: 'started' })
  let atOnce = 0
  let mostAtOnce = 0
  async function submit(_bridge: string, message: Uint8Array) {
    const name = String(message[0])
    tried.push(name)
    mostAtOnce = Math.max(mostAtOnce, ++atOnce)
    try {
      return await answer(name)
    } finally {
      atOnce--
    }
  }
  const submissions = new Submissions({
    bridge: 'a bridge',
    submitter: { submit },
    onOutcome: (outcome) => outcomes.push(outcome),
    onFull: (full) => fullness.push(full),
    onTrouble: (error) => troubles.push(error?.code),
    concurrency: options.concurrency ?? 2,
    limit: options.limit ?? 100,
    ...(options.limitBytes !== undefined && { limitBytes: options.limitBytes }),
    ...(options.limitUnknown !== undefined && { limitUnknown: options.limitUnknown }),
    ...(options.limitUnknownBytes !== undefined && { limitUnknownBytes: options.limitUnknownBytes }),
    retry: { firstMs: 2, mostMs: 4 },
  })
  open.push(submissions)
  return {
    submissions,
    outcomes,
    fullness,
    troubles,
    tried,
    mostAtOnce: () => mostAtOnce,
    add: (...names: number[]) => names.forEach((name) => submissions.add(new Uint8Array([name]))),
    answerWith: (next: typeof answer) => (answer = next),
    fail: (code: 'TEMPORAL_UNAVAILABLE' | 'GUARDIAN_SET_UNKNOWN' | 'VAA_NO_QUORUM') =>
      (answer = () => Promise.reject(new RelayerError(code))),
    work: () => (answer = async (id) => ({ id, status: 'started' })),
  }
}

const ids = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.error.code : outcome.id)).toSorted()

describe('submissions', () => {
  test('submissions are concurrent up to a limit, and each outcome is reported', async () => {
    const { add, outcomes, mostAtOnce, submissions } = network()
    add(1, 2, 3, 4, 5)
    await expect.poll(() => outcomes.length, waitLimit).toBe(5)
    expect(ids(outcomes)).toEqual(['1', '2', '3', '4', '5'])
    expect([mostAtOnce(), submissions.size]).toEqual([2, 0])
  })

  test('a retriable failure is retried until it passes, and reported once', async () => {
    const { add, outcomes, troubles, tried, fail, work, submissions } = network()
    fail('TEMPORAL_UNAVAILABLE')
    add(1, 2, 3)
    await expect.poll(() => tried.length, waitLimit).toBeGreaterThan(9)
    expect([outcomes, troubles, submissions.size]).toEqual([[], ['TEMPORAL_UNAVAILABLE'], 3])
    work()
    await expect.poll(() => outcomes.length, waitLimit).toBe(3)
    expect(troubles).toEqual(['TEMPORAL_UNAVAILABLE', undefined])
  })

  test('submissions are full at the limit, and have room again at half of it', async () => {
    const { add, fullness, fail, work, submissions } = network({ limit: 4 })
    fail('TEMPORAL_UNAVAILABLE')
    add(1, 2, 3)
    expect(fullness).toEqual([])
    add(4)
    expect(fullness).toEqual([true])
    work()
    await expect.poll(() => submissions.size, waitLimit).toBe(0)
    expect(fullness).toEqual([true, false])
  })

  test('the latest messages of an unknown guardian set are kept, and never fill the limit', async () => {
    const { submissions, outcomes, fullness, fail } = network({ limit: 4, limitUnknown: 3 })
    fail('GUARDIAN_SET_UNKNOWN')
    for (let index = 0; index < 2_000; index++) submissions.add(Buffer.from([index % 256, index >> 8]))
    await expect.poll(() => outcomes.length, waitLimit).toBe(1_997)
    expect(new Set(ids(outcomes))).toEqual(new Set(['GUARDIAN_SET_UNKNOWN']))
    await expect.poll(() => fullness.at(-1), waitLimit).not.toBe(true)
    expect([submissions.size, submissions.unknownSets]).toEqual([3, 3])
  })

  const long = (name: number, bytes: number) => Buffer.alloc(bytes, name)

  test('a burst of long messages of an unknown guardian set delays the intake only briefly', async () => {
    const { submissions, fullness, answerWith, outcomes, add } = network({
      limit: 1_000,
      limitBytes: 2_000_000,
      limitUnknownBytes: 1_200_000,
    })
    answerWith(async (id) => {
      if (id === '1') throw new RelayerError('GUARDIAN_SET_UNKNOWN')
      return { id, status: 'started' }
    })
    for (let index = 0; index < 20; index++) submissions.add(long(1, 199_999))
    expect(fullness).toEqual([true])
    await expect.poll(() => fullness, waitLimit).toEqual([true, false])
    // Messages of unknown guardian sets have their own limit of bytes, which six of these messages fill.
    await expect.poll(() => [submissions.size, submissions.unknownSets], waitLimit).toEqual([6, 6])
    add(2)
    await expect.poll(() => ids(outcomes).at(0), waitLimit).toBe('2')
    expect(fullness).toEqual([true, false])
  })

  test('the bytes of a message count again after another failure', async () => {
    const { submissions, fullness, fail, work } = network({ limitBytes: 100 })
    fail('GUARDIAN_SET_UNKNOWN')
    submissions.add(long(1, 60))
    await expect.poll(() => submissions.unknownSets, waitLimit).toBe(1)
    submissions.add(long(2, 60))
    await expect.poll(() => submissions.unknownSets, waitLimit).toBe(2)
    expect(fullness).toEqual([])
    fail('TEMPORAL_UNAVAILABLE')
    await expect.poll(() => fullness, waitLimit).toEqual([true])
    fail('GUARDIAN_SET_UNKNOWN')
    await expect.poll(() => fullness, waitLimit).toEqual([true, false])
    work()
    await expect.poll(() => submissions.size, waitLimit).toBe(0)
    // The limit is reached again only if each message's size was subtracted once.
    fail('TEMPORAL_UNAVAILABLE')
    submissions.add(long(3, 99))
    expect(fullness).toEqual([true, false])
    submissions.add(long(4, 1))
    expect(fullness).toEqual([true, false, true])
  })

  test('a message in a flood of unknown guardian sets is measured a few times, however many are kept', async () => {
    const { submissions, outcomes, fail } = network()
    fail('GUARDIAN_SET_UNKNOWN')
    let measured = 0
    const get = () => {
      measured += 1
      return 1
    }
    for (let index = 0; index < 1_000; index++) submissions.add(Object.defineProperty(new Uint8Array([index]), 'length', { get }))
    await expect.poll(() => outcomes.length, waitLimit).toBe(800)
    expect(measured).toBeLessThan(10_000)
  })

  test('submissions are full at the limit of bytes, too', async () => {
    const { submissions, fullness, fail, work } = network({ limitBytes: 100 })
    fail('TEMPORAL_UNAVAILABLE')
    submissions.add(Buffer.alloc(99))
    expect(fullness).toEqual([])
    submissions.add(Buffer.alloc(1))
    expect(fullness).toEqual([true])
    work()
    await expect.poll(() => fullness, waitLimit).toEqual([true, false])
  })

  test('a final failure is refused at the first attempt', async () => {
    const { add, outcomes, tried, fail } = network()
    fail('VAA_NO_QUORUM')
    add(1)
    await expect.poll(() => ids(outcomes), waitLimit).toEqual(['VAA_NO_QUORUM'])
    expect(tried).toEqual(['1'])
  })

  test('an unknown guardian set is not reported as trouble', async () => {
    const { add, troubles, tried, fail, submissions } = network()
    fail('GUARDIAN_SET_UNKNOWN')
    add(1)
    await expect.poll(() => tried.length, waitLimit).toBeGreaterThan(3)
    expect([troubles, submissions.size]).toEqual([[], 1])
  })

  test('closing tries every message once more, and counts those that are left', async () => {
    const healed = network()
    healed.fail('TEMPORAL_UNAVAILABLE')
    healed.add(1, 2, 3)
    await expect.poll(() => healed.tried.length, waitLimit).toBeGreaterThan(3)
    healed.work()
    expect(await healed.submissions.close(15_000)).toBe(0)
    expect(ids(healed.outcomes)).toEqual(['1', '2', '3'])

    const broken = network()
    broken.fail('TEMPORAL_UNAVAILABLE')
    broken.add(1, 2, 3)
    expect(await broken.submissions.close(15_000)).toBe(3)
    const tries = broken.tried.length
    expect(broken.submissions.size).toBe(0)
    broken.add(9)
    await expect.poll(() => broken.tried.length, waitLimit).toBe(tries + 1)
    expect(broken.tried.at(-1)).toBe('9')
  })

  test('closing does not wait longer than its limit for a hanging submitter', async () => {
    const { add, answerWith, submissions } = network()
    answerWith(() => new Promise(() => {}))
    add(1, 2, 3)
    expect(await submissions.close(20)).toBe(3)
  })
})
