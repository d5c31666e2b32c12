import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAdmit, createPrepare } from '../../activities/transfer/admit.ts'
import type { Endpoint, NextStage } from '../../bridges/port.ts'
import type { At, Simulation } from '../../chains/port.ts'
import { type Config, configSchema } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import type { Terms } from '../../domain/transfer/transfer.ts'
import { callHash } from '../../lanes/deps.ts'
import type { AdmitInput } from '../../temporal/contracts/transfer-steps.ts'
import { parkAfterOf } from '../../workers/roles/chain.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { unused } from '../helpers/unused.ts'
import { bridgesWith, fakeDelivery, fakeEndpoint, fakeParties } from './fake-bridge.ts'
import { inItsRun } from './its-run.ts'

interface Scene {
  /** Result of the simulation. If it is an Error, the simulation throws it. */
  readonly simulation?: Simulation | Error
  /** States of the target chain that show the transfer's effect. */
  readonly shows?: Partial<Record<At, boolean>>
  readonly revertsOnceDelivered?: boolean
  readonly lanes?: readonly string[]
  readonly transfers?: Partial<Config['transfers']>
  readonly endpoint?: Partial<Endpoint>
  readonly halted?: boolean
  /** `unknown`: the field is absent, because an older version runs the workflow. */
  readonly reverted?: AdmitInput['reverted'] | 'unknown'
  readonly dataFee?: string
  /** Maximum gas limit of the policy. */
  readonly gasLimit?: string
  readonly balances?: Readonly<Record<string, string | undefined>>
  readonly terms?: Terms
  readonly step?: typeof createAdmit | typeof createPrepare
}

const noNode = new Error('no node')
const reverts: Simulation = { ok: false, revert: { data: '0x', reason: 'a reason' } }

async function admit({
  simulation = { ok: true, gas: '100000' },
  shows = {},
  revertsOnceDelivered = true,
  lanes = ['evm-1:0xa'],
  transfers,
  endpoint: own,
  halted = false,
  reverted = { calls: 0, gas: 0 },
  dataFee = '0',
  gasLimit,
  balances = {},
  terms,
  step: create = createAdmit,
}: Scene) {
  const read: At[] = []
  const endpoint = fakeEndpoint({
    validate: async () => ({ kind: 'valid' }),
    delivery: fakeDelivery({ call: async () => ({ to: `0x${'ab'.repeat(20)}`, data: '0x12345678', value: '0' }), revertsOnceDelivered }),
    delivered: async (_, at) => (read.push(at), shows[at] ?? false),
    explainRevert: () => ({ kind: 'wait', code: 'BRIDGE_BUDGET', reason: 'the budget is spent' }),
    ...own,
  })
  const chain = {
    name: 'bsc',
    blockTimeMs: 1_000,
    heads: { current: undefined },
    msToFinality: () => 5_000,
    simulate: async () => (simulation instanceof Error ? Promise.reject(simulation) : simulation),
    quote: async () => ({ maxFee: '19', tip: '1', baseFee: '9' }),
    dataFee: async () => dataFee,
    balanceOf: async (address: string) => balances[address] ?? Promise.reject(noNode),
  }
  const statuses = lanes.map((lane) => ({ lane, open: true }))
  const deps = {
    bridges: bridgesWith(endpoint),
    chains: new Map([['bsc', chain]]),
    lanes: new Map([['bsc', { statuses: async () => statuses, open: async () => lanes, lanes }]]),
    settings: () => ({ ...noSettings, halts: halted ? [{ scope: {}, by: 'me', reason: 'a test', at: 0 }] : [] }),
    fees: () => ({ gasLimit }),
    abandonAfterMs: 0,
    parkAfter: parkAfterOf(configSchema.parse({ chains: {}, bridges: {}, transfers })),
  }
  const step = inItsRun(create(deps as never, undefined as never))
  const transfer = { ...nativeTransfer(), ...(terms && { terms }) }
  return { answer: await step({ transfer, avoid: [], ...(reverted !== 'unknown' && { reverted }) }), read }
}

test('a simulation that succeeds shows that the effect is missing: no other read is made', async () => {
  const { answer, read } = await admit({})
  expect([answer.kind, read]).toEqual(['ready', []])
})

test('the effect is read before any revert is explained: a spent budget hides it', async () => {
  const there = await admit({ simulation: reverts, shows: { latest: true } })
  expect([there.answer.kind, there.read]).toEqual(['unsettled', ['latest', 'finalized']])
  const absent = await admit({ simulation: reverts })
  expect([absent.answer, absent.read]).toEqual([expect.objectContaining({ kind: 'waiting', code: 'BRIDGE_BUDGET' }), ['latest']])
})

test.each([
  [{}, 'reverted'],
  [{ isDisputed: true }, 'disputed'],
] as const)('a transfer whose call reverts (%j) shows that its call %s', async (dispute, failedCall) => {
  const revert = { data: '0x', reason: 'never', ...dispute }
  const waits = await admit({ simulation: { ok: false, revert } })
  expect(waits.answer).toMatchObject({ kind: 'waiting', failedCall })
  const explainRevert = () => ({ kind: 'permanent', code: 'DELIVERY_IMPOSSIBLE', reason: 'for another chain' }) as const
  const never = await admit({ simulation: { ok: false, revert }, endpoint: { explainRevert } })
  expect(never.answer).toMatchObject({ kind: 'impossible', failedCall })
})

describe('A revert that says that the transfer is delivered', () => {
  const says: Scene = { simulation: { ok: false, revert: { data: '0x', reason: 'already completed' } } }
  const endpoint: Scene['endpoint'] = { explainRevert: () => ({ kind: 'delivered' }) }
  const waits = { kind: 'waiting', code: 'DELIVERY_REVERTED', reason: expect.stringContaining('already completed') }

  test.each([
    ['admit', createAdmit],
    ['prepare', createPrepare],
  ] as const)('in %s, a revert that reports a delivery counts only if the target shows the delivery', async (_, step) => {
    for (const revertsOnceDelivered of [true, false])
      expect((await admit({ ...says, revertsOnceDelivered, endpoint, step })).answer).toMatchObject(waits)
    expect((await admit({ ...says, endpoint, step, shows: { latest: true } })).answer.kind).toBe('unsettled')
  })
})

test.each([
  ['holds them', ['5', '4'], 'evm-1:0xa'],
  ['holds them, in any sequence', ['4', '5'], 'evm-1:0xb'],
  ['has a balance that nobody can read', ['4', undefined], 'evm-1:0xb'],
])('a paid call with coins goes to a lane that %s', async (_, [a, b], lane) => {
  const balances = { '0xa': a, '0xb': b }
  const payment = { paid: '1', worth: '9', coins: '5' }
  const call = async () => ({ to: `0x${'ab'.repeat(20)}`, data: '0x12345678', value: '5' })
  const endpoint = { delivery: fakeDelivery({ call, payment }) }
  const { answer } = await admit({ lanes: ['evm-1:0xa', 'evm-1:0xb'], endpoint, balances })
  expect(answer).toMatchObject({ kind: 'ready', lane })
})

test('if no node finds its coins in the lane, a call waits for funds, and may be cancelled or expire', async () => {
  const simulation = new RelayerError('TRANSACTION_REFUSED', { detail: 'insufficient funds for transfer' })
  const { answer } = await admit({ simulation })
  expect(answer).toMatchObject({ kind: 'waiting', code: 'LANE_FUNDS', reason: expect.stringContaining('evm-1:0xa cannot pay the 0 wei') })
  const ofTerms = await admit({ simulation, terms: { lane: 'evm-1:0xa' } })
  expect(ofTerms.answer).toMatchObject({ kind: 'waiting', code: 'LANE_CHOSEN', reason: expect.stringContaining('evm-1:0xa cannot pay') })
})

test.each([
  [94_000, { kind: 'ready' }],
  [94_001, { kind: 'impossible', code: 'MESSAGE_TOO_LARGE' }],
])('a call that is too long for every pool gets no nonce: %i bytes', async (bytes, expected) => {
  const call = async () => ({ to: `0x${'ab'.repeat(20)}`, data: `0x${'00'.repeat(bytes)}`, value: '0' })
  expect((await admit({ endpoint: { delivery: fakeDelivery({ call }) } })).answer).toMatchObject(expected)
})

describe('A call that needs much gas, and costs more than its lane holds,', () => {
  const dear: Scene = { simulation: { ok: true, gas: '600000' }, gasLimit: '3000000', lanes: ['evm-1:0xa', 'evm-1:0xb'] }
  const cost = 600_000 * 19

  test('a call that no lane can pay for waits before a ledger sees it, so no ledger closes a lane', async () => {
    const { answer } = await admit({ ...dear, balances: { '0xa': String(cost - 1), '0xb': '1' } })
    expect(answer).toMatchObject({ kind: 'waiting', code: 'CALL_TOO_DEAR', reason: expect.stringContaining(`may cost ${cost} wei`) })
  })

  test('a call too dear for the lane of its terms says so, and not that this lane takes no work', async () => {
    const { answer } = await admit({ ...dear, balances: { '0xa': '1', '0xb': String(cost) }, terms: { lane: 'evm-1:0xa' } })
    expect(answer).toMatchObject({ kind: 'waiting', code: 'CALL_TOO_DEAR' })
  })

  test.each([
    ['0xa', [cost, 1]],
    ['0xb', [1, cost]],
  ])('an expensive call goes to the lane that can pay for it: %s', async (lane, [a, b]) => {
    const { answer } = await admit({ ...dear, balances: { '0xa': String(a), '0xb': String(b) } })
    expect(answer).toMatchObject({ kind: 'ready', lane: `evm-1:${lane}` })
  })

  test('if a call needs no more gas than others, the ledger decides whether its lane can pay', async () => {
    const { answer } = await admit({ ...dear, simulation: { ok: true, gas: '500000' }, balances: { '0xa': '1', '0xb': '1' } })
    expect(answer.kind).toBe('ready')
  })
})

test('the effect is read if the call may succeed a second time', async () => {
  const { answer, read } = await admit({ shows: { latest: true }, revertsOnceDelivered: false })
  expect([answer.kind, read]).toEqual(['unsettled', ['latest', 'finalized']])
})

test('while no lane takes work nothing is simulated and the effect is read', async () => {
  const { answer, read } = await admit({ lanes: [], shows: { latest: true } })
  expect([answer.kind, read]).toEqual(['unsettled', ['latest', 'finalized']])
})

test('the config sets after how many failed rounds a transfer is parked; the defaults add no bytes', async () => {
  expect((await admit({})).answer).not.toHaveProperty('parkAfter')
  const { answer } = await admit({ transfers: { parkAfterReverts: 2 } })
  expect(answer).toMatchObject({ kind: 'ready', parkAfter: { reverts: 2, spentNonces: 20 } })
})

const paidFor = (gasAtMost: bigint): Scene['endpoint'] => {
  const call = async () => ({ to: `0x${'ab'.repeat(20)}`, data: '0x12345678', value: '0' })
  return { delivery: fakeDelivery({ call, payment: { paid: '1', worth: '1', coins: '0' }, gasAtMost }) }
}

test.each<[string, Partial<Config['transfers']>, number]>([
  ['usually', {}, 20],
  ['also where the config allows other transfers more', { parkAfterReverts: 9, parkAfterSpentNonces: 30 }, 30],
])('a request that pays for one call is parked after its first useless call, %s', async (_, transfers, spentNonces) => {
  const { answer } = await admit({ transfers, endpoint: paidFor(199_999n) })
  expect(answer).toMatchObject({ kind: 'ready', parkAfter: { reverts: 1, spentNonces } })
})

test.each<[string, Scene, object]>([
  ['has as many tries as it pays calls for', {}, { parkAfter: { reverts: 3 } }],
  ['has at most the tries of the config', { transfers: { parkAfterReverts: 2 } }, { parkAfter: { reverts: 2 } }],
  ['pays for its reverted calls too', { reverted: { calls: 1, gas: 150_000 } }, { parkAfter: { reverts: 2 } }],
  ['keeps no try after a dear call', { reverted: { calls: 1, gas: 201_000 } }, { kind: 'impossible', code: 'GAS_ABOVE_PAID' }],
  ['pays for the data of one call', { dataFee: '7' }, { parkAfter: { reverts: 1 } }],
  ['has one try if an older version runs its workflow', { reverted: 'unknown' }, { parkAfter: { reverts: 1 } }],
  ['gets no gas back when a gate opens', { reverted: { calls: 0, gas: 200_000 } }, { parkAfter: { reverts: 1 } }],
])('a request that pays for 300,000 gas, with calls of 100,000 gas, %s', async (_, scene, answer) => {
  expect((await admit({ ...scene, endpoint: paidFor(300_000n) })).answer).toMatchObject(answer)
})

test.each<[string, Scene, object]>([
  ['than the config allows is parked', { gasLimit: '500000' }, { code: 'GAS_LIMIT', reason: 'the call needs more gas than 500000' }],
  ['than was paid for is parked', { gasLimit: '500000', endpoint: paidFor(500_000n) }, { code: 'GAS_ABOVE_PAID' }],
  ['than the config allows is parked, also if more is paid', { gasLimit: '500000', endpoint: paidFor(500_001n) }, { code: 'GAS_LIMIT' }],
])('a call that needs more gas %s', async (_, scene, answer) => {
  const simulation: Simulation = { ok: false, revert: { data: '0x', reason: 'out of gas' }, needsMore: true }
  expect((await admit({ ...scene, simulation })).answer).toMatchObject({ kind: 'impossible', ...answer })
})

test("a receiver that chooses each call's gas and opens gates at will cannot burn unpaid gas", async () => {
  const calls = fc.array(fc.record({ gas: fc.integer({ min: 21_000, max: 1_100_000 }), gateOpens: fc.boolean() }), { maxLength: 12 })
  const paid = fc.integer({ min: 100_000, max: 1_000_000 })
  await fc.assert(
    fc.asyncProperty(paid, calls, async (gasAtMost, tries) => {
      let reverted = { calls: 0, gas: 0 }
      for (const { gas, gateOpens } of tries) {
        const { answer } = await admit({ simulation: { ok: true, gas: String(gas) }, endpoint: paidFor(BigInt(gasAtMost)), reverted })
        if (answer.kind !== 'ready') {
          expect(answer).toMatchObject({ code: 'GAS_ABOVE_PAID' })
          return
        }
        reverted = { calls: reverted.calls + 1, gas: reverted.gas + Number(answer.gasLimit) }
        expect(reverted.gas).toBeLessThanOrEqual(gasAtMost)
        if (reverted.calls >= answer.parkAfter!.reverts) return
        if (gateOpens) reverted.calls = 0
      }
    }),
  )
})

describe('A delivery of several calls', () => {
  const call = { to: `0x${'ab'.repeat(20)}`, value: '0' }
  const stages = (next: NextStage): Scene => ({
    endpoint: {
      delivery: (_, stage = 'first') => ({
        ...{ call: async () => ({ ...call, data: stage === 'second' ? '0x22222222' : '0x11111111' }) },
        ...{ parties: fakeParties, revertsOnceDelivered: true },
      }),
      stages: { next: async () => next, passed: async () => false },
    },
  })

  test('the call is that of the next stage, and the round names the stage', async () => {
    const { answer } = await admit(stages({ kind: 'stage', stage: 'second' }))
    expect(answer).toMatchObject({ kind: 'ready', stage: 'second', callHash: callHash({ ...call, data: '0x22222222' }) })
  })

  test('while the simulation of the first call succeeds, the contract is not asked for the stage', async () => {
    const scene = stages({ kind: 'stage', stage: 'second' })
    const begun = { ...scene, endpoint: { ...scene.endpoint, stages: { ...scene.endpoint!.stages!, first: () => 'begin' } } }
    const { answer, read } = await admit(begun)
    expect([answer, read]).toEqual([
      expect.objectContaining({ kind: 'ready', stage: 'begin', callHash: callHash({ ...call, data: '0x11111111' }) }),
      [],
    ])
    const done = await admit({ ...begun, simulation: reverts, shows: { latest: true } })
    expect([done.answer.kind, done.read]).toEqual(['unsettled', ['latest', 'finalized']])
  })

  test('between two calls the transfer waits until the time that the contract names', async () => {
    const opensAt = Math.floor(Date.now() / 1000) + 3_600
    const { answer } = await admit(stages({ kind: 'wait', code: 'DELIVERY_NOT_DUE', reason: 'in the queue', opensAt }))
    expect(answer).toMatchObject({ kind: 'waiting', code: 'DELIVERY_NOT_DUE', reason: 'in the queue' })
    expect(answer.kind === 'waiting' && answer.retryInMs).toBeGreaterThan(3_590_000)
  })

  test('a contract that names a time in the far future is asked again after a week', async () => {
    const { answer } = await admit(stages({ kind: 'wait', code: 'DELIVERY_NOT_DUE', reason: 'in the queue', opensAt: 9e15 }))
    expect(answer).toMatchObject({ kind: 'waiting', code: 'DELIVERY_NOT_DUE', retryInMs: 7 * 86_400_000 })
  })

  test('no stage is asked for once the whole transfer shows', async () => {
    const { answer } = await admit({ ...stages({ kind: 'stage', stage: 'second' }), shows: { latest: true } })
    expect(answer.kind).toBe('unsettled')
  })
})

test('a message without an attestation is not validated: it waits for one, or is given back with it', async () => {
  const message = Uint8Array.of(1, 2, 3)
  const attested = await admit({ endpoint: { attest: async () => ({ kind: 'attested', message }), validate: unused('validate') } })
  expect(attested.answer).toEqual({ kind: 'attested', message: 'AQID' })
  const waits = { kind: 'wait', code: 'VAA_NOT_FOUND', reason: 'no guardian API has it', retryInMs: 1_000 } as const
  const absent = await admit({ endpoint: { attest: async () => waits, validate: unused('validate') } })
  expect(absent.answer).toEqual({ ...waits, kind: 'waiting' })
})

test.each<[string, Scene, readonly string[]]>([
  ['stays while the transfer goes on', {}, ['reserve for 0xa']],
  ['is released where the transfer waits', { simulation: reverts }, ['reserve for 0xa', 'release']],
  ['of an earlier step is released by a halt, which asks for nothing', { halted: true }, ['release']],
  ['stays with a step that throws: it is tried again', { simulation: noNode }, ['reserve for 0xa']],
])('a reservation %s', async (_, scene, wanted) => {
  const calls: string[] = []
  const endpoint: Scene['endpoint'] = {
    reserve: async (__, relayer) => (calls.push(`reserve for ${relayer}`), { kind: 'open' }),
    release: () => void calls.push('release'),
  }
  const [ended] = await Promise.allSettled([admit({ ...scene, endpoint })])
  expect([ended.status, calls]).toEqual([scene.simulation === noNode ? 'rejected' : 'fulfilled', wanted])
})
