import { ownerOf, Network } from './lane-model.ts'
import type { NetworkOptions } from './lane-model.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

/** Things that can happen, and how often beside the others. The numbers choose which process, which intent, which flight, how much. */
const happenings: Record<string, [weight: number, (world: Network, a: number, b: number, c: number) => unknown]> = {
  ask: [10, (world, a, b, c) => world.ask(a, b % 6, ['20', '100', '300'][c % 3] ?? '100', c % 4 !== 0)],
  find: [4, (world, a, b, c) => world.ask(a, b % 6, '100', c % 4 !== 0, 'find')],
  findOnly: [2, (world, a, b, c) => world.ask(a, b % 6, '100', c % 4 !== 0, 'look')],
  operatorTransaction: [1, (world, a, b, c) => world.ask(a, b % 6, '100', c % 4 !== 0, 'operatorTransaction')],
  askRound: [4, (world, a, b, c) => world.ask(a, b % 6, '100', c % 4 !== 0, 'new', 1 + (c % 3))],
  askMany: [3, (world, a, b, c) => world.askMany(a, b % 6, 2 + (c % 4))],
  repeat: [6, (world, a, b) => world.repeat(a, b)],
  launch: [10, (world, a, b) => world.launch(a, b)],
  bump: [5, (world, a, b, c) => world.bump(a, b, c % 3 !== 0)],
  release: [8, (world, a, b, c) => world.release(a, b, c % 3 !== 0)],
  withdraw: [4, (world, _, b, c) => world.withdraw(b % 6, (['leave', 'cancel', 'abandon'] as const)[c % 3] ?? 'leave')],
  crash: [2, (world, a) => world.crash(a)],
  look: [6, (world, a) => world.look(a)],
  lookAskance: [2, (world, a, b, c) => (world.lookAskance(a, 1 + (b % 3)), c % 2 && world.observe(a))],
  observe: [8, (world, a) => world.observe(a)],
  lookAndObserve: [8, (world, a) => (world.look(a), world.observe(a))],
  obey: [4, (world, a) => world.obey(a)],
  mine: [10, (world, _, b, c) => world.chain.mine(b % 4, c % 3 === 0 ? 150n : 15n)],
  reorg: [3, (world, _, b, c) => world.chain.reorg(1 + (b % 4), c % 2 === 0)],
  evict: [2, (world, _, b) => world.chain.evict(world.chain.latest + (b % 3))],
  foreign: [2, (world, _, b, c) => world.chain.foreign(world.chain.latest + (b % 3), [30n, 100n, 900n][c % 3] ?? 100n)],
  balance: [2, (world, _, __, c) => void (world.chain.balance = [0n, 700_000n, 1_300_000n, 10_000_000n][c % 4] ?? 0n)],
  pause: [1, (world) => world.operator({ kind: 'pause', id: 'p', pause: { kind: 'operator', reason: 'operator' } })],
  drain: [1, (world) => world.operator({ kind: 'drain', id: 'p', reason: 'operator' })],
  forbid: [1, (world) => world.operator({ kind: 'forbid', id: 'p', reason: 'operator' })],
  activate: [3, (world) => world.operator({ kind: 'activate', id: 'p' })],
  cancelNonce: [1, (world, _, b) => world.operator({ kind: 'cancelNonce', id: 'p', nonce: world.chain.latest + (b % 3) })],
  replace: [2, (world, _, b) => world.operator({ kind: 'replace', id: 'p', nonce: world.chain.latest + (b % 3) })],
  configure: [
    1,
    (world, _, b, c) =>
      world.operator({
        kind: 'configure',
        id: 'p',
        config: { ...world.lane.state.config, window: 1 + (b % 5), minimumBalance: ['0', '1000000'][c % 2] ?? '0' },
      }),
  ],
  time: [3, (world, _, __, c) => void (world.lane.now += [1_000, 20_000, 40_000][c % 3] ?? 0)],
  replaceChain: [1, (world) => world.replaceChain()],
  reset: [2, (world) => world.operator({ kind: 'reset', id: 'p' })],
  resume: [2, (world) => world.operator({ kind: 'resume', id: 'p' })],
  setWindow: [1, (world, _, __, c) => world.operator({ kind: 'setWindow', id: 'p', window: 1 + (c % 5) })],
  resync: [1, (world) => world.operator({ kind: 'resync', id: 'p' })],
  fill: [1, (world, _, b) => world.operator({ kind: 'fill', id: 'p', nonce: world.chain.latest + (b % 3), reason: 'operator' })],
  reorgDeep: [1, (world, _, b) => world.chain.reorgDeep(1 + (b % 3))],
  pauseSignal: [1, (world) => world.operator({ kind: 'pause', id: 'p', pause: { kind: 'operator', reason: 'operator' } }, true)],
  activateSignal: [2, (world) => world.operator({ kind: 'activate', id: 'p' }, true)],
  runReset: [2, (world, _, b, c) => world.lane.reset(1 + b * 3, c % 2 ? 'all' : 'late signals')],
  runResetBare: [1, (world, _, b) => world.lane.reset(1 + b * 3, 'nothing')],
  nextRun: [1, (world) => world.lane.nextRun()],
  setBack: [1, (world, _, b) => world.lane.setBack(1 + b * 3)],
  wipe: [1, (world) => world.lane.wipe()],
}

/** What can happen to a process that neither dies nor is deceived. */
const peaceful = fc.constantFrom(
  ...['ask', 'find', 'askMany', 'repeat', 'launch', 'launch', 'bump', 'release', 'withdraw', 'lookAndObserve', 'obey', 'mine'],
  ...['pause', 'activate', 'pauseSignal', 'activateSignal', 'setWindow', 'runReset', 'nextRun'],
)

type Happening = readonly [what: string, a: number, b: number, c: number]

/** An intent of no story. */
const newcomer = 100
const small = fc.nat({ max: 11 })
const anything = fc.oneof(...Object.entries(happenings).map(([what, [weight]]) => ({ weight, arbitrary: fc.constant(what) })))
const happening: fc.Arbitrary<Happening> = fc.tuple(anything, small, small, small)
const options: fc.Arbitrary<NetworkOptions> = fc.record({
  window: fc.integer({ min: 1, max: 5 }),
  fillAfterBlocks: fc.integer({ min: 1, max: 4 }),
  finalDepth: fc.nat({ max: 4 }),
  first: fc.nat({ max: 3 }),
  minimumBalance: fc.constantFrom(0, 0, 800_000),
})
const story = fc.array(happening, { maxLength: 80, size: 'max' })

function live(settings: NetworkOptions, happened: readonly Happening[]): Network {
  const world = new Network(settings)
  world.observe(0)
  for (const [what, a, b, c] of happened) happenings[what]?.[1](world, a, b, c)
  return world
}

/** Every step is held against the books of lane-checker.ts: a broken rule throws there. */
describe('the nonce ledger, whatever happens', () => {
  test('keeps its rules at every step, and every nonce it handed out ends in a block', () => {
    let granted = 0
    fc.assert(
      fc.property(options, story, (settings, happened) => {
        const world = live(settings, happened)
        granted += world.lane.state.counts.granted
        world.settle()
        const nonces = world.chain.mined.map(({ nonce }) => nonce)
        expect(nonces).toEqual(nonces.map((_, index) => settings.first + index))
      }),
      { numRuns: 1500 },
    )
    // The stories are no idle talk.
    expect(granted).toBeGreaterThan(1500)
  }, 600_000)

  test('serves a new intent once it has settled', () => {
    fc.assert(
      fc.property(options, story, (settings, happened) => {
        const world = live(settings, happened)
        world.settle()
        // A stranger's transaction, or one of a wiped ledger, may still wait for its turn, and would rightly win it.
        for (const p of world.processes.keys()) world.crash(p)
        for (let ahead = 0; ahead < 40; ahead++) world.chain.evict(world.chain.latest + ahead)
        world.look(0)
        world.observe(0)
        world.ask(0, newcomer, '100', true)
        const granted = world.lane.state.entries[world.chain.latest]
        expect(granted?.owner).toEqual(ownerOf(newcomer))
        world.settle()
        expect(world.chain.mined.at(-1)?.id).toContain(ownerOf(newcomer).intentId)
      }),
      { numRuns: 300 },
    )
  }, 600_000)

  test('gives no nonce to two, however often it is reset, as long as the process lives that drives it', () => {
    let resets = 0
    const alone: fc.Arbitrary<Happening> = fc.tuple(peaceful, fc.constant(0), small, small)
    fc.assert(
      fc.property(options, fc.array(alone, { minLength: 20, maxLength: 80, size: 'max' }), (settings, happened) => {
        const world = live(settings, happened)
        resets += happened.filter(([what]) => what === 'runReset').length
        for (const [nonce, intents] of world.signers) expect([nonce, ...intents]).toHaveLength(2)
        world.settle()
      }),
      { numRuns: 500 },
    )
    expect(resets).toBeGreaterThan(500)
  }, 600_000)
})
