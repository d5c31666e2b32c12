import { describe, expect, test } from 'vitest'
import { createAdmit } from '../../activities/transfer/admit.ts'
import type { Endpoint, NextStage } from '../../bridges/port.ts'
import type { At, Simulation } from '../../chains/port.ts'
import { type Config, configSchema } from '../../config/schema/schema.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { callHash } from '../../lanes/deps.ts'
import { parkAfterOf } from '../../workers/roles/chain.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { unused } from '../helpers/unused.ts'
import { bridgesWith, fakeDelivery, fakeEndpoint, fakeParties } from './fake-bridge.ts'

interface Scene {
  /** `null`: the simulation fails, because no node answers. */
  readonly simulation?: Simulation | null
  /** States of the target chain that show the transfer's effect. */
  readonly shows?: Partial<Record<At, boolean>>
  readonly revertsOnceDelivered?: boolean
  readonly lanes?: readonly string[]
  readonly transfers?: Partial<Config['transfers']>
  readonly endpoint?: Partial<Endpoint>
  readonly halted?: boolean
}

const reverts: Simulation = { ok: false, revert: { data: '0x', reason: 'a reason' } }

async function admit({
  simulation = { ok: true, gas: '100000' },
  shows = {},
  revertsOnceDelivered = true,
  lanes = ['evm-1:0xa'],
  transfers,
  endpoint: own,
  halted = false,
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
    simulate: async () => simulation ?? Promise.reject(new Error('no node')),
    quote: async () => ({ maxFee: '19', tip: '1', baseFee: '9' }),
    dataFee: async () => '0',
  }
  const statuses = lanes.map((lane) => ({ lane, open: true }))
  const deps = {
    bridges: bridgesWith(endpoint),
    chains: new Map([['bsc', chain]]),
    lanes: new Map([['bsc', { statuses: async () => statuses, open: async () => lanes, lanes }]]),
    settings: () => (halted ? { ...noSettings, halts: [{ scope: {}, by: 'me', reason: 'a test', at: 0 }] } : noSettings),
    fees: () => ({}),
    abandonAfterMs: 0,
    parkAfter: parkAfterOf(configSchema.parse({ chains: {}, bridges: {}, transfers })),
  }
  const step = createAdmit(deps as never, undefined as never)
  return { answer: await step({ transfer: nativeTransfer(), avoid: [] }), read }
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

test.each<[string, Partial<Config['transfers']>, number]>([
  ['usually', {}, 20],
  ['also where the config allows other transfers more', { parkAfterReverts: 9, parkAfterSpentNonces: 30 }, 30],
])('a paid request is parked after its first useless call, %s', async (_, transfers, spentNonces) => {
  const call = async () => ({ to: `0x${'ab'.repeat(20)}`, data: '0x12345678', value: '0' })
  const payment = { paid: '1', worth: '1', coins: '0' }
  const { answer } = await admit({ transfers, endpoint: { delivery: fakeDelivery({ call, payment }) } })
  expect(answer).toMatchObject({ kind: 'ready', parkAfter: { reverts: 1, spentNonces } })
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

  test('the first call is taken without a question while its simulation succeeds', async () => {
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
  ['stays with a step that throws: it is tried again', { simulation: null }, ['reserve for 0xa']],
])('a reservation %s', async (_, scene, wanted) => {
  const calls: string[] = []
  const endpoint: Scene['endpoint'] = {
    reserve: async (__, relayer) => (calls.push(`reserve for ${relayer}`), { kind: 'open' }),
    release: () => void calls.push('release'),
  }
  const [ended] = await Promise.allSettled([admit({ ...scene, endpoint })])
  expect([ended.status, calls]).toEqual([scene.simulation === null ? 'rejected' : 'fulfilled', wanted])
})
