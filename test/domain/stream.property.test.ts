import { config } from './stream-blocks.ts'
import { StreamModel } from './stream-model.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

/** The events of the model, with weights. `a` and `b` choose the details, such as the transfer or the agent. */
const happenings: Record<string, [weight: number, (model: StreamModel, a: number, b: number) => unknown]> = {
  mine: [10, (model, a) => model.mine(a % 4)],
  finalize: [8, (model, a) => model.finalize(a)],
  reorg: [3, (model, a) => model.reorg(0, a % 3)],
  deepReorg: [1, (model, a, b) => model.reorg(1 + (a % 4), b % 3)],
  hide: [2, (model, a) => model.hide(a)],
  deliver: [8, (model, a) => model.deliver(a, false)],
  deliverForeign: [3, (model, a) => model.deliver(a, true)],
  undo: [1, (model, a) => model.undo(a)],
  follow: [8, (model, a) => model.follow(a)],
  refresh: [8, (model, a) => model.refresh(a)],
  scan: [12, (model, a, b) => model.scan(a, b % 5, false)],
  scanCrash: [3, (model, a, b) => model.scan(a, b % 5, true)],
  fill: [4, (model, a, b) => model.fill(a, b % 5, false)],
  fillCrash: [1, (model, a, b) => model.fill(a, b % 5, true)],
  audit: [4, (model, a, b) => model.audit(a, b % 3, false)],
  auditCrash: [1, (model, a, b) => model.audit(a, b % 3, true)],
  repeat: [6, (model, a) => model.repeat(a)],
  end: [2, (model, a) => model.end(a)],
  park: [2, (model, a) => model.park(a)],
  skip: [1, (model, a) => model.skip(1 + a)],
  trust: [1, (model) => model.trust(0)],
  trustTooMuch: [1, (model, a) => model.trust(1 + a)],
  backfill: [1, (model, a, b) => model.operator({ kind: 'backfill', from: a, to: a + b, by: 'ops' })],
  setMaxOpen: [1, (model, a) => model.operator({ kind: 'setMaxOpen', maxOpen: 1 + (a % 6), by: 'ops' })],
  asConfigured: [1, (model) => model.operator({ kind: 'setMaxOpen', by: 'o' })],
  configured: [1, (model, a) => model.operator({ kind: 'configured', stream: config.stream, origin: config.origin, maxOpen: 1 + (a % 6) })],
  pause: [1, (model) => model.operator({ kind: 'pause', by: 'ops', reason: 'test' })],
  resume: [2, (model) => model.operator({ kind: 'resume' })],
  copy: [2, (model) => model.copy()],
  restore: [1, (model, a) => model.restore(a)],
  wipe: [1, (model, a, b) => model.wipe(a, b % 2 === 0)],
}

type Happening = readonly [what: string, a: number, b: number]

const small = fc.nat({ max: 11 })
const anything = fc.oneof(...Object.entries(happenings).map(([what, [weight]]) => ({ weight, arbitrary: fc.constant(what) })))
const story = fc.array(fc.tuple(anything, small, small) as fc.Arbitrary<Happening>, { maxLength: 120, size: 'max' })

/** StreamModel throws if a rule is broken. */
describe('a stream, whatever happens', () => {
  test('a stream misses no number, and its watermark is never above an unresolved one', () => {
    let [numbers, forks, undone] = [0, 0, 0]
    fc.assert(
      fc.property(story, (happened) => {
        const model = new StreamModel()
        for (const [what, a, b] of happened) happenings[what]?.[1](model, a, b)
        model.settle()
        expect(model.startedAll).toBe(true)
        numbers += model.all().length
        forks += model.stream.counts.forks
        undone += model.stream.counts.undone
      }),
      { numRuns: 400 },
    )
    expect(numbers).toBeGreaterThan(1_000)
    expect(forks).toBeGreaterThan(0)
    expect(undone).toBeGreaterThan(0)
    expect(config.maxOpen).toBe(4)
  }, 600_000)
})
