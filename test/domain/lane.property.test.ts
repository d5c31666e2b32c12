import { Network, type NetworkOptions } from './lane-model.ts'
import { ownerOf } from './lane-process.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

/**
 * The events of the model, with weights. Their numbers choose the process, the intent, the transaction and the amount.
 */
const events: Record<string, [weight: number, (network: Network, a: number, b: number, c: number) => unknown]> = {
  ask: [10, (network, a, b, c) => network.ask(a, b % 6, ['20', '100', '300'][c % 3] ?? '100', c % 4 !== 0)],
  find: [4, (network, a, b, c) => network.ask(a, b % 6, '100', c % 4 !== 0, 'find')],
  findOnly: [2, (network, a, b, c) => network.ask(a, b % 6, '100', c % 4 !== 0, 'look')],
  operatorTransaction: [1, (network, a, b, c) => network.ask(a, b % 6, '100', c % 4 !== 0, 'operatorTransaction')],
  askRound: [4, (network, a, b, c) => network.ask(a, b % 6, '100', c % 4 !== 0, 'new', 1 + (c % 3))],
  askMany: [3, (network, a, b, c) => network.askMany(a, b % 6, 2 + (c % 4))],
  repeat: [6, (network, a, b) => network.repeat(a, b)],
  sign: [10, (network, a, b) => network.sign(a, b)],
  bump: [5, (network, a, b, c) => network.bump(a, b, c % 3 !== 0)],
  release: [8, (network, a, b, c) => network.release(a, b, c % 3 !== 0)],
  withdraw: [4, (network, _, b, c) => network.withdraw(b % 6, (['leave', 'cancel', 'abandon'] as const)[c % 3] ?? 'leave')],
  crash: [2, (network, a) => network.crash(a)],
  look: [6, (network, a) => network.look(a)],
  lookAtLaggingNode: [2, (network, a, b, c) => (network.lookAtLaggingNode(a, 1 + (b % 3)), c % 2 && network.observe(a))],
  observe: [8, (network, a) => network.observe(a)],
  lookAndObserve: [8, (network, a) => (network.look(a), network.observe(a))],
  obey: [4, (network, a) => network.obey(a)],
  mine: [10, (network, _, b, c) => network.chain.mine(b % 4, c % 3 === 0 ? 150n : 15n)],
  reorg: [3, (network, _, b, c) => network.chain.reorg(1 + (b % 4), c % 2 === 0)],
  evict: [2, (network, _, b) => network.chain.evict(network.chain.latest + (b % 3))],
  external: [2, (network, _, b, c) => network.chain.external(network.chain.latest + (b % 3), [30n, 100n, 900n][c % 3] ?? 100n)],
  balance: [2, (network, _, __, c) => void (network.chain.balance = [0n, 700_000n, 1_300_000n, 10_000_000n][c % 4] ?? 0n)],
  pause: [1, (network) => network.operator({ kind: 'pause', id: 'p', pause: { kind: 'operator', reason: 'operator' } })],
  drain: [1, (network) => network.operator({ kind: 'drain', id: 'p', reason: 'operator' })],
  forbid: [1, (network) => network.operator({ kind: 'forbid', id: 'p', reason: 'operator' })],
  activate: [3, (network) => network.operator({ kind: 'activate', id: 'p' })],
  cancelNonce: [1, (network, _, b) => network.operator({ kind: 'cancelNonce', id: 'p', nonce: network.chain.latest + (b % 3) })],
  replace: [2, (network, _, b) => network.operator({ kind: 'replace', id: 'p', nonce: network.chain.latest + (b % 3) })],
  configure: [
    1,
    (network, _, b, c) =>
      network.operator({
        kind: 'configure',
        id: 'p',
        config: { ...network.lane.state.config, window: 1 + (b % 5), minimumBalance: ['0', '1000000'][c % 2] ?? '0' },
      }),
  ],
  time: [3, (network, _, __, c) => void (network.lane.now += [1_000, 20_000, 40_000][c % 3] ?? 0)],
  replaceChain: [1, (network) => network.replaceChain()],
  reset: [2, (network) => network.operator({ kind: 'reset', id: 'p' })],
  resume: [2, (network) => network.operator({ kind: 'resume', id: 'p' })],
  setWindow: [1, (network, _, __, c) => network.operator({ kind: 'setWindow', id: 'p', window: 1 + (c % 5) })],
  resync: [1, (network) => network.operator({ kind: 'resync', id: 'p' })],
  fill: [1, (network, _, b) => network.operator({ kind: 'fill', id: 'p', nonce: network.chain.latest + (b % 3), reason: 'operator' })],
  reorgDeep: [1, (network, _, b) => network.chain.reorgDeep(1 + (b % 3))],
  pauseSignal: [1, (network) => network.operator({ kind: 'pause', id: 'p', pause: { kind: 'operator', reason: 'operator' } }, true)],
  activateSignal: [2, (network) => network.operator({ kind: 'activate', id: 'p' }, true)],
  runReset: [2, (network, _, b, c) => network.lane.reset(1 + b * 3, c % 2 ? 'all' : 'late signals')],
  runResetBare: [1, (network, _, b) => network.lane.reset(1 + b * 3, 'nothing')],
  nextRun: [1, (network) => network.lane.nextRun()],
  setBack: [1, (network, _, b) => network.lane.setBack(1 + b * 3)],
  wipe: [1, (network) => network.lane.wipe()],
}

/** Events in which no process dies and no node lies. */
const peaceful = fc.constantFrom(
  ...['ask', 'find', 'askMany', 'repeat', 'sign', 'sign', 'bump', 'release', 'withdraw', 'lookAndObserve', 'obey', 'mine'],
  ...['pause', 'activate', 'pauseSignal', 'activateSignal', 'setWindow', 'runReset', 'nextRun'],
)

type Event = readonly [what: string, a: number, b: number, c: number]

const newcomer = 100
const small = fc.nat({ max: 11 })
const anything = fc.oneof(...Object.entries(events).map(([what, [weight]]) => ({ weight, arbitrary: fc.constant(what) })))
const event: fc.Arbitrary<Event> = fc.tuple(anything, small, small, small)
const options: fc.Arbitrary<NetworkOptions> = fc.record({
  window: fc.integer({ min: 1, max: 5 }),
  fillAfterBlocks: fc.integer({ min: 1, max: 4 }),
  finalDepth: fc.nat({ max: 4 }),
  first: fc.nat({ max: 3 }),
  minimumBalance: fc.constantFrom(0, 0, 800_000),
})
const histories = fc.array(event, { maxLength: 80, size: 'max' })

/** Histories that once broke a rule. */
const found: [NetworkOptions, Event[]][] = [
  // All processes are silent for a long time. The next report has a lower height, so a block must have been removed.
  [
    { window: 1, fillAfterBlocks: 1, finalDepth: 1, first: 0, minimumBalance: 0 },
    [
      ['ask', 10, 0, 1],
      ['sign', 4, 0, 0],
      ['mine', 0, 1, 1],
      ['lookAndObserve', 0, 0, 0],
      ['time', 0, 0, 11],
      ['time', 0, 0, 11],
      ['observe', 2, 0, 0],
    ],
  ],
  // A nonce is returned although it is in a block by now, and is packed after a reset.
  [
    { window: 1, fillAfterBlocks: 1, finalDepth: 1, first: 0, minimumBalance: 0 },
    [
      ['external', 0, 0, 0],
      ['askRound', 0, 0, 1],
      ['mine', 0, 1, 1],
      ['askMany', 0, 0, 0],
      ['runResetBare', 0, 0, 0],
      ['release', 0, 0, 0],
      ['askMany', 0, 0, 0],
    ],
  ],
]

/**
 * The ledger is restored to a state from before the chain began anew, so it knows a higher block than the chain has.
 */
const foundSetBack: [NetworkOptions, Event[]] = [
  { window: 1, fillAfterBlocks: 1, finalDepth: 0, first: 0, minimumBalance: 0 },
  (['balance', 'mine', 'mine', 'lookAtLaggingNode', 'replaceChain', 'setBack'] as const).map((what): Event => [what, 0, 0, 0]),
]

const foundAlone: [NetworkOptions, Event[]][] = [
  [
    { window: 1, fillAfterBlocks: 1, finalDepth: 0, first: 0, minimumBalance: 0 },
    [
      ['ask', 0, 0, 0],
      ['repeat', 0, 0, 0],
      ['runReset', 0, 1, 0],
      ['lookAndObserve', 0, 0, 0],
      ['sign', 0, 0, 0],
      ['ask', 0, 7, 0],
      ['ask', 0, 1, 1],
      ['sign', 0, 0, 0],
    ],
  ],
]

function live(settings: NetworkOptions, history: readonly Event[]): Network {
  const network = new Network(settings)
  network.observe(0)
  for (const [what, a, b, c] of history) events[what]?.[1](network, a, b, c)
  return network
}

/** lane-checker.ts throws if a rule is broken. */
describe('the nonce ledger, whatever happens', () => {
  test('the ledger keeps its rules at every step, and every nonce it handed out ends in a block', () => {
    let granted = 0
    let packed = 0
    fc.assert(
      fc.property(options, histories, (settings, history) => {
        const network = live(settings, history)
        granted += network.lane.state.counts.granted
        packed += network.lane.paged.pages
        network.settle()
        const nonces = network.chain.mined.map(({ nonce }) => nonce)
        expect(nonces).toEqual(nonces.map((_, index) => settings.first + index))
      }),
      { numRuns: 500, examples: found },
    )
    expect(granted).toBeGreaterThan(500)
    // The ledger packs only entries in blocks that are not final.
    expect(packed).toBeGreaterThan(100)
  }, 600_000)

  test('the ledger serves a new intent once it has settled', () => {
    fc.assert(
      fc.property(options, histories, (settings, history) => {
        const network = live(settings, history)
        network.settle()
        // The pool may still have a transaction of an outsider or of a wiped ledger.
        for (const p of network.processes.keys()) network.crash(p)
        for (let ahead = 0; ahead < 40; ahead++) network.chain.evict(network.chain.latest + ahead)
        // A ledger of an older backup may know a higher block than a chain that began anew.
        while (network.chain.height <= (network.lane.state.observed?.height ?? 0)) network.chain.mine(0, 0n)
        network.look(0)
        network.observe(0)
        network.ask(0, newcomer, '100', true)
        const granted = network.lane.state.entries[network.chain.latest]
        expect(granted?.owner).toEqual(ownerOf(newcomer))
        network.settle()
        expect(network.chain.mined.at(-1)?.id).toContain(ownerOf(newcomer).intentId)
      }),
      { numRuns: 150, examples: [foundSetBack] },
    )
  }, 600_000)

  test('no nonce has two owners, whatever the resets, while the process that drives it lives', () => {
    let resets = 0
    const alone: fc.Arbitrary<Event> = fc.tuple(peaceful, fc.constant(0), small, small)
    fc.assert(
      fc.property(options, fc.array(alone, { minLength: 20, maxLength: 80, size: 'max' }), (settings, history) => {
        const network = live(settings, history)
        resets += history.filter(([what]) => what === 'runReset').length
        for (const [nonce, intents] of network.signers) expect([nonce, ...intents]).toHaveLength(2)
        network.settle()
      }),
      { numRuns: 200, examples: foundAlone },
    )
    expect(resets).toBeGreaterThan(200)
  }, 600_000)
})
