import { expect, test } from 'vitest'
import { createAdmit } from '../../activities/transfer/admit.ts'
import type { At, Simulation } from '../../chains/port.ts'
import { type Config, configSchema } from '../../config/schema/schema.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { parkAfterOf } from '../../workers/roles/chain.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { bridgesWith, fakeDelivery, fakeEndpoint } from './fake-bridge.ts'

interface Scene {
  readonly simulation?: Simulation
  /** The effect in each state. */
  readonly shows?: Partial<Record<At, boolean>>
  readonly revertsOnceDelivered?: boolean
  readonly lanes?: readonly string[]
  readonly transfers?: Partial<Config['transfers']>
}

const reverts: Simulation = { ok: false, revert: { data: '0x', reason: 'a reason' } }

/** The admission's answer, and the states of which the effect was read. */
async function admit({
  simulation = { ok: true, gas: '100000' },
  shows = {},
  revertsOnceDelivered = true,
  lanes = ['evm-1:0xa'],
  transfers,
}: Scene) {
  const read: At[] = []
  const endpoint = fakeEndpoint({
    validate: async () => ({ kind: 'valid' }),
    delivery: fakeDelivery({ call: async () => ({ to: `0x${'ab'.repeat(20)}`, data: '0x12345678', value: '0' }), revertsOnceDelivered }),
    delivered: async (_, at) => (read.push(at), shows[at] ?? false),
    explainRevert: () => ({ kind: 'wait', code: 'BRIDGE_BUDGET', reason: 'the budget is spent' }),
  })
  const chain = {
    name: 'bsc',
    blockTimeMs: 1_000,
    heads: { current: undefined },
    msToFinality: () => 5_000,
    simulate: async () => simulation,
    quote: async () => ({ maxFee: '19', tip: '1', baseFee: '9' }),
    dataFee: async () => '0',
  }
  const statuses = lanes.map((lane) => ({ lane, open: true }))
  const deps = {
    bridges: bridgesWith(endpoint),
    chains: new Map([['bsc', chain]]),
    lanes: new Map([['bsc', { statuses: async () => statuses, open: async () => lanes, lanes }]]),
    settings: () => noSettings,
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
