import { WorkflowUpdateFailedError } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import { describe, expect, test, vi } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import { CoalescingUpdates } from '../../temporal/client/calls/coalescing-updates.ts'
import { malformedUpdate, runIsFull } from '../../temporal/contracts/names.ts'
import { cleanUp } from '../helpers/clean-up.ts'
import { recordingLogger } from '../helpers/recording-logger.ts'

interface Sent {
  readonly update: readonly string[]
  readonly updateId: string
  readonly at: number
  answer(): void
  fail(error: unknown): void
}

/** Updates that the test answers by hand. The answer to a request is its text in capitals. */
function setting({ mostRequests = 64, spacingMs }: { mostRequests?: number; spacingMs?: (requests: readonly string[]) => number } = {}) {
  const sent: Sent[] = []
  const built: (readonly string[])[] = []
  const heard: (readonly string[])[] = []
  const { logger, lines } = recordingLogger('debug')
  const updates = new CoalescingUpdates<string, { answers: readonly string[]; count: number }>({
    fits: (requests) => requests.length <= mostRequests,
    build: (update) => {
      built.push(update)
      return (updateId) =>
        new Promise((resolve, reject) => {
          const answer = () => resolve({ answers: update.map((text) => text.toUpperCase()), count: update.length })
          sent.push({ update, updateId, at: performance.now(), answer, fail: reject })
        })
    },
    onResponse: ({ answers }) => void heard.push(answers),
    unreachable: 'LANE_UNREACHABLE',
    facts: { lane: 'a lane' },
    ...(spacingMs && { spacingMs }),
    logger,
  })
  const nth = async (count: number): Promise<Sent> => {
    await until(() => sent.length >= count, { timeoutMs: 40_000, everyMs: 1, what: `update ${count}` })
    return sent[count - 1]!
  }
  return { updates, sent, built, heard, lines, nth }
}

const refusal = (type: string) => new WorkflowUpdateFailedError('refused', ApplicationFailure.nonRetryable('too many', type))

describe('coalescing updates', () => {
  test('spaced updates keep their distance, except for a full update and for close', async () => {
    const real = performance.now.bind(performance)
    // With this slow clock every timer seems to fire early, as Node's timers may by up to two milliseconds.
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => real() * 0.9)
    cleanUp(() => clock.mockRestore())
    const { updates, sent, nth } = setting({ spacingMs: ([text]) => (text === 'a' ? 200 : 100) })
    const begun = performance.now()
    for (const [index, text] of ['a', 'b', 'c'].entries()) {
      const asked = updates.ask([text])
      ;(await nth(index + 1)).answer()
      expect((await asked).answers).toEqual([text.toUpperCase()])
    }
    const [, second = 0, third = 0] = sent.map(({ at }) => at - begun)
    expect([second >= 200, third >= 300]).toEqual([true, true])

    const far = setting({ mostRequests: 2, spacingMs: () => 3_600_000 })
    const asked = ['a', 'b', 'c', 'd', 'e'].map((text) => far.updates.ask([text]))
    ;(await far.nth(1)).answer()
    // One update holds at most two requests.
    ;(await far.nth(2)).answer()
    await Promise.all(asked.slice(0, 4))
    far.updates.close()
    await expect(asked[4]).rejects.toMatchObject({ code: 'LANE_UNREACHABLE' })
    expect(far.sent.map(({ update }) => update.join(''))).toEqual(['ab', 'cd'])
  })

  test('one update is under way at a time, and requests during it share the next one', async () => {
    const { updates, sent, heard, nth } = setting()
    const first = [updates.ask(['a']), updates.ask(['b', 'c'])]
    const one = await nth(1)
    const later = [updates.ask(['d']), updates.ask(['e'])]
    expect(updates.busy).toBe(true)
    one.answer()
    expect(await Promise.all(first)).toEqual([
      { answers: ['A'], count: 3 },
      { answers: ['B', 'C'], count: 3 },
    ])
    expect(sent.map(({ update }) => update)).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ])
    ;(await nth(2)).answer()
    expect((await Promise.all(later)).map(({ answers }) => answers)).toEqual([['D'], ['E']])
    expect(heard).toEqual([
      ['A', 'B', 'C'],
      ['D', 'E'],
    ])
    expect(sent[0]?.updateId).not.toBe(sent[1]?.updateId)
  })

  test('an update holds what fits, and a request that is too large goes alone', async () => {
    const { updates, sent, nth } = setting({ mostRequests: 2 })
    const asked = [updates.ask(['a']), updates.ask(['b', 'c', 'd']), updates.ask(['e']), updates.ask(['f'])]
    for (const count of [1, 2, 3]) (await nth(count)).answer()
    await Promise.all(asked)
    expect(sent.map(({ update }) => update)).toEqual([['a'], ['b', 'c', 'd'], ['e', 'f']])
  })

  test('a request that is stale by the time of its update is dropped', async () => {
    const { updates, sent, nth } = setting()
    const first = updates.ask(['a'])
    const one = await nth(1)
    const [stale, fresh] = [updates.ask(['b'], () => true), updates.ask(['c'], () => false)]
    one.answer()
    ;(await nth(2)).answer()
    expect((await first).answers).toEqual(['A'])
    expect(await stale).toBeUndefined()
    expect((await fresh)?.answers).toEqual(['C'])
    expect(sent.map(({ update }) => update)).toEqual([['a'], ['c']])
  })

  test('flush sends an update without requests', async () => {
    const { updates, sent, heard, nth } = setting()
    updates.flush()
    updates.flush()
    ;(await nth(1)).answer()
    await until(() => !updates.busy, { timeoutMs: 40_000, what: 'the end' })
    expect([sent.length, heard]).toEqual([1, [[]]])
  })

  test('an update is built once and repeated with the same id until it is answered; a full run is no warning', async () => {
    const { updates, sent, built, lines, nth } = setting()
    const asked = updates.ask(['a'])
    ;(await nth(1)).fail(refusal(runIsFull))
    ;(await nth(2)).fail(new Error('14 UNAVAILABLE'))
    const third = await nth(3)
    const later = updates.ask(['b'])
    third.answer()
    expect((await asked).answers).toEqual(['A'])
    expect(new Set(sent.slice(0, 3).map(({ updateId }) => updateId)).size).toBe(1)
    expect(sent[2]?.update).toEqual(['a'])
    expect(built).toEqual([['a']])
    ;(await nth(4)).answer()
    await later
    expect(lines.map(({ level }) => level)).toEqual(['debug', 'debug'])
  })

  test('a Temporal that is away causes one warning, not one for each try', async () => {
    const { updates, lines, nth } = setting()
    const asked = updates.ask(['a']).catch((error: unknown) => error)
    for (const count of [1, 2, 3, 4]) (await nth(count)).fail(new Error('14 UNAVAILABLE'))
    await until(() => lines.length >= 4, { timeoutMs: 40_000, what: 'four tries' })
    updates.close()
    expect(await asked).toMatchObject({ code: 'LANE_UNREACHABLE' })
    expect(new Set(lines.map(({ message }) => message))).toEqual(new Set(['a workflow did not answer; the update is sent again']))
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'debug', 'debug', 'debug'])
  })

  test('a malformed update fails its own requests, and no others', async () => {
    const { updates, lines, nth } = setting()
    const asked = updates.ask(['a'])
    const one = await nth(1)
    const next = updates.ask(['b'])
    one.fail(refusal(malformedUpdate))
    await expect(asked).rejects.toMatchObject({ code: 'INTERNAL', facts: { lane: 'a lane' }, message: expect.stringContaining('too many') })
    ;(await nth(2)).answer()
    expect((await next).answers).toEqual(['B'])
    expect(lines.map(({ level }) => level)).toEqual(['error'])
  })

  test('close fails requests under way, waiting requests and later ones', async () => {
    const { updates, sent, nth } = setting()
    const under = updates.ask(['a'])
    await nth(1)
    const waits = updates.ask(['b'])
    updates.close()
    for (const asked of [under, waits, updates.ask(['c'])]) await expect(asked).rejects.toMatchObject({ code: 'LANE_UNREACHABLE' })
    expect(sent).toHaveLength(1)
  })
})
