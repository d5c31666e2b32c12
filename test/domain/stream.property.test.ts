import { config } from './stream-blocks.ts'
import { StreamWorld } from './stream-model.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

/** Things that can happen, and how often beside the others. The numbers choose among what is there. */
const happenings: Record<string, [weight: number, (world: StreamWorld, a: number, b: number) => unknown]> = {
  mine: [10, (world, a) => world.mine(a % 4)],
  finalize: [8, (world, a) => world.finalize(a)],
  reorg: [3, (world, a) => world.reorg(0, a % 3)],
  deepReorg: [1, (world, a, b) => world.reorg(1 + (a % 4), b % 3)],
  hide: [2, (world, a) => world.hide(a)],
  deliver: [8, (world, a) => world.deliver(a, false)],
  deliverForeign: [3, (world, a) => world.deliver(a, true)],
  undo: [1, (world, a) => world.undo(a)],
  follow: [8, (world, a) => world.follow(a)],
  refresh: [8, (world, a) => world.refresh(a)],
  scan: [12, (world, a, b) => world.scan(a, b % 5, false)],
  scanCrash: [3, (world, a, b) => world.scan(a, b % 5, true)],
  fill: [4, (world, a, b) => world.fill(a, b % 5, false)],
  fillCrash: [1, (world, a, b) => world.fill(a, b % 5, true)],
  audit: [4, (world, a, b) => world.audit(a, b % 3, false)],
  auditCrash: [1, (world, a, b) => world.audit(a, b % 3, true)],
  repeat: [6, (world, a) => world.repeat(a)],
  end: [2, (world, a) => world.end(a)],
  park: [2, (world, a) => world.park(a)],
  skip: [1, (world, a) => world.skip(1 + a)],
  trust: [1, (world) => world.trust(0)],
  trustTooMuch: [1, (world, a) => world.trust(1 + a)],
  backfill: [1, (world, a, b) => world.operator({ kind: 'backfill', from: a, to: a + b, by: 'ops' })],
  setMaxOpen: [1, (world, a) => world.operator({ kind: 'setMaxOpen', maxOpen: 1 + (a % 6), by: 'ops' })],
  asConfigured: [1, (world) => world.operator({ kind: 'setMaxOpen', by: 'o' })],
  configured: [1, (world, a) => world.operator({ kind: 'configured', maxOpen: 1 + (a % 6) })],
  pause: [1, (world) => world.operator({ kind: 'pause', by: 'ops', reason: 'test' })],
  resume: [2, (world) => world.operator({ kind: 'resume' })],
  copy: [2, (world) => world.copy()],
  restore: [1, (world, a) => world.restore(a)],
  wipe: [1, (world, a, b) => world.wipe(a, b % 2 === 0)],
}

type Happening = readonly [what: string, a: number, b: number]

const small = fc.nat({ max: 11 })
const anything = fc.oneof(...Object.entries(happenings).map(([what, [weight]]) => ({ weight, arbitrary: fc.constant(what) })))
const story = fc.array(fc.tuple(anything, small, small) as fc.Arbitrary<Happening>, { maxLength: 120, size: 'max' })

/** StreamWorld holds the stream against the truth after every request: a broken rule throws there. */
describe('a stream, whatever happens', () => {
  test('misses no number, and its watermark is never above an unresolved one', () => {
    let [numbers, forks, undone] = [0, 0, 0]
    fc.assert(
      fc.property(story, (happened) => {
        const world = new StreamWorld()
        for (const [what, a, b] of happened) happenings[what]?.[1](world, a, b)
        world.settle()
        expect(world.startedAll).toBe(true)
        numbers += world.all().length
        forks += world.stream.counts.forks
        undone += world.stream.counts.undone
      }),
      { numRuns: 400 },
    )
    expect(numbers).toBeGreaterThan(1_000)
    expect(forks).toBeGreaterThan(0)
    expect(undone).toBeGreaterThan(0)
    expect(config.maxOpen).toBe(4)
  }, 600_000)
})
