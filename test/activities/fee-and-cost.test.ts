import { expect, test } from 'vitest'
import { createShadow, type Shadow } from '../../activities/checks/shadow.ts'
import { createPrepare } from '../../activities/transfer/admit.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { CallPlan } from '../../domain/transfer/call-plan.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { recordingLogger } from '../helpers/recording-logger.ts'
import type { PlannedDelivery } from '../../bridges/port.ts'
import { bridgesWith, fakeDelivery, fakeEndpoint } from './fake-bridge.ts'
import { inItsRun } from './its-run.ts'

interface Extras {
  readonly shadow?: Shadow
  readonly value?: string
  readonly plan?: CallPlan
}

/** Prepares a call of 100,000 gas at a base fee of 9 wei and a tip of 1 wei. It costs 1,000,000 wei plus `dataFee`. */
async function prepare(worth: bigint | undefined | PlannedDelivery['earned'], dataFee = '0', { shadow, value = '0', plan }: Extras = {}) {
  const lane = 'evm-1:0xa'
  const earned = typeof worth === 'function' ? worth : async () => worth
  const endpoint = fakeEndpoint({
    delivery: fakeDelivery({ call: async () => ({ to: `0x${'ab'.repeat(20)}`, data: '0x12345678', value }), earned }),
    ...(plan && { plan: () => plan }),
  })
  const chain = {
    name: 'bsc',
    simulate: async () => ({ ok: true, gas: '100000' }),
    quote: async () => ({ maxFee: '19', tip: '1', baseFee: '9' }),
    dataFee: async () => dataFee,
  }
  const cache = { statuses: async () => [{ lane, open: true }], open: async () => [lane], lanes: [lane] }
  const deps = {
    bridges: bridgesWith(endpoint),
    chains: new Map([['bsc', chain]]),
    lanes: new Map([['bsc', cache]]),
    settings: () => noSettings,
    fees: () => ({}),
    abandonAfterMs: 0,
    shadow,
  }
  return inItsRun(createPrepare(deps as never))({ transfer: nativeTransfer(), avoid: [] })
}

test('a transfer waits, without a nonce, while its fee is worth less than the delivery costs', async () => {
  expect(await prepare(999_999n)).toMatchObject({ kind: 'waiting', code: 'FEE_BELOW_COST' })
  expect(await prepare(0n)).toMatchObject({ kind: 'waiting', reason: expect.stringContaining('costs 1000000 wei') })
  expect(await prepare(1_000_000n)).toMatchObject({ kind: 'ready' })
  expect(await prepare(1_000_000n, '1')).toMatchObject({ kind: 'waiting', code: 'FEE_BELOW_COST' })
})

test('a transfer waits while the price feed has no price for its fee', async () => {
  const missing = new RelayerError('PRICE_MISSING', { detail: 'oracles on bsc: it has no price', facts: { name: 'bsc' } })
  expect(await prepare(() => Promise.reject(missing))).toMatchObject({
    kind: 'waiting',
    code: 'PRICE_MISSING',
    reason: expect.stringContaining('oracles on bsc'),
  })
})

test('a transfer waits while its plug-in cannot say what its fee is worth', async () => {
  const failed = new RelayerError('PLUGIN_FAILED', { detail: 'mine: earned threw: oh' })
  expect(await prepare(() => Promise.reject(failed))).toMatchObject({ kind: 'waiting', code: 'PLUGIN_FAILED' })
})

test('on a chain with a data fee, a call with more data than its request paid for waits for a lower cost', async () => {
  const prepared = (most: number, earned: bigint, dataFee = '7') =>
    prepare(async (bytes = 0) => (bytes > most ? earned : undefined), dataFee)
  expect(await prepared(3, 1_000_006n)).toMatchObject({ kind: 'waiting', code: 'FEE_BELOW_COST' })
  expect(await prepared(3, 1_000_007n)).toMatchObject({ kind: 'ready', dataFee: '7' })
  expect(await prepared(4, 0n)).toMatchObject({ kind: 'ready', dataFee: '7' })
  expect(await prepared(3, 0n, '0')).toMatchObject({ kind: 'ready' })
})

test('without a configured price the cost does not matter', async () => {
  expect(await prepare(undefined)).toMatchObject({ kind: 'ready', gasLimit: '100000' })
})

test('in shadow mode a transfer that is ready waits, and the log has its call once', async () => {
  const { logger, lines } = recordingLogger()
  const metrics = createMetrics()
  const shadow = createShadow(logger, metrics)
  const reason = `evm-1:0xa would call 0x12345678 of 0x${'ab'.repeat(20)} with 100000 gas at up to 0.000000019 gwei; it costs 0.001 gwei now`
  const shadowCall = { selector: '0x12345678', gasLimit: '100000', maxFee: '19', cost: '1000000' }
  for (let time = 0; time < 2; time++)
    expect(await prepare(undefined, '0', { shadow })).toMatchObject({ code: 'SHADOW_MODE', reason, shadowCall })
  expect(lines).toMatchObject([{ lane: 'evm-1:0xa', gasLimit: '100000', maxFee: '19', tip: '1', costWei: '1000000' }])
  expect(await prepare(0n, '0', { shadow })).toMatchObject({ code: 'FEE_BELOW_COST' })
  const text = await metrics.render()
  expect(text).toMatch(/portage_shadow_deliveries_total\{[^}]*\} 1\n/)
  expect(text).toMatch(/portage_shadow_cost_wei_total\{[^}]*\} 1000000\n/)
})

test('in shadow mode the coins of a call count as cost', async () => {
  const { logger, lines } = recordingLogger()
  const metrics = createMetrics()
  await prepare(undefined, '0', { shadow: createShadow(logger, metrics), value: '30' })
  expect(lines).toMatchObject([{ costWei: '1000030' }])
  expect(await metrics.render()).toMatch(/portage_shadow_cost_wei_total\{[^}]*\} 1000030\n/)
})

test('the admission names the whole fee of a plug-in for the process with the key', async () => {
  const plan = { to: `0x${'ab'.repeat(20)}`, data: '0x12345678', effect: [], recipient: '0x1', token: 'weth' }
  expect(await prepare(1_000_000n, '0', { plan, value: '30' })).toMatchObject({ kind: 'ready', plan, fee: '1000030' })
  expect(await prepare(undefined, '0', { plan, value: '30' })).not.toHaveProperty('fee')
  expect(await prepare(1_000_000n)).not.toHaveProperty('fee')
})
