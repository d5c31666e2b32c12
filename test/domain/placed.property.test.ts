import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PlacedModel } from './placed-model.ts'

/** The events of the model, with weights. Their numbers choose among the existing transfers, logs and agents. */
const happenings: Record<string, [weight: number, (model: PlacedModel, a: number, b: number) => unknown]> = {
  mine: [10, (model, a, b) => model.chain.mine(...[a, b, 700 + a].slice(0, a % 4))],
  finalize: [8, (model, a) => model.chain.finalize(a)],
  reorg: [3, (model, a) => model.reorg(0, a)],
  deepReorg: [1, (model, a, b) => model.reorg(1 + (a % 4), b)],
  hide: [4, (model, a) => model.hide(a)],
  show: [3, (model) => model.chain.show()],
  deliver: [8, (model, a) => model.deliver(a)],
  deliverForeign: [2, (model, a) => model.deliverForeign(a)],
  end: [2, (model, a) => model.end(a)],
  undo: [2, (model, a) => model.undo(a)],
  refresh: [8, (model, a) => model.refresh(a)],
  scan: [12, (model, a, b) => model.scan(a, b % 5, false)],
  scanCrash: [3, (model, a, b) => model.scan(a, b % 5, true)],
  fill: [4, (model, a, b) => model.fill(a, b % 5, false)],
  fillCrash: [1, (model, a, b) => model.fill(a, b % 5, true)],
  audit: [8, (model, a) => model.audit(a, false)],
  auditCrash: [1, (model, a) => model.audit(a, true)],
  auditBlocks: [8, (model, a, b) => model.auditBlocks(a, b, a % 5)],
  fillGaps: [4, (model, a) => model.fillGaps(a, false)],
  fillGapsCrash: [1, (model, a) => model.fillGaps(a, true)],
  repeat: [6, (model, a) => model.repeat(a)],
  park: [2, (model, a) => model.park(a)],
  condense: [3, (model, a) => model.condense(a)],
  skip: [1, (model, a) => model.skip(a)],
  unskip: [1, (model, a, b) => model.unskip(a, b)],
  trust: [1, (model) => model.trust()],
  backfill: [1, (model, a, b) => model.operator({ kind: 'backfill', from: a, to: a + b, by: 'ops' })],
  setMaxOpen: [1, (model, a) => model.operator({ kind: 'setMaxOpen', maxOpen: 1 + (a % 6), by: 'ops' })],
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

/** PlacedModel throws if a rule is broken. */
describe('a placed stream, whatever happens', () => {
  test('a placed stream misses no log, starts none twice, and makes no gap of places without a log', () => {
    const seen = { logs: 0, forks: 0, undone: 0, hidden: 0, condensed: 0 }
    fc.assert(
      fc.property(story, (happened) => {
        const model = new PlacedModel()
        for (const [what, a, b] of happened) {
          happenings[what]?.[1](model, a, b)
          if (model.stream.outside.some(({ condensed }) => condensed)) seen.condensed++
        }
        model.settle()
        expect(model.startedAll).toBe(true)
        expect(model.stream).toMatchObject({ open: [], outside: [], gaps: [], unknownCompletions: [], marks: [] })
        seen.logs += model.chain.all().length
        seen.forks += model.stream.counts.forks
        seen.undone += model.stream.counts.undone
        seen.hidden += model.found
      }),
      { numRuns: 400 },
    )
    expect(seen.logs).toBeGreaterThan(1_000)
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0)
  }, 600_000)
})
