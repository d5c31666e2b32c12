import { expect, test } from 'vitest'
import { signingLimitsSchema } from '../../config/schema/lane-schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { until } from '../../lab/devnet/until.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { topUps } from '../../workers/roles/top-ups.ts'
import { recordingLogger } from '../helpers/recording-logger.ts'
import { cleanUp } from '../helpers/clean-up.ts'

const [from, poor] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
const id = (address: string) => laneId('evm', 1, address)

async function round(payerHas: string | undefined, poorHas: string, topUp: object = {}) {
  const checked: { to: string; value: string }[] = []
  const asked: string[] = []
  const signing = signingLimitsSchema.parse({ topUps: true })
  const chain = {
    ...{ family: 'evm', networkId: 1, blockTimeMs: 50, signing, lanes: [{ address: from }, { address: poor }] },
    topUp: { from, minimum: '10', level: '50', maxPaymentWei: '30', maxPerDayWei: '90', ...topUp },
  }
  const { logger, lines } = recordingLogger()
  const metrics = createMetrics()
  const payer = {
    ...{ lane: id(from), balance: payerHas },
    async checkSigning({ intent }: { intent: { to: string; value: string } }) {
      checked.push({ to: intent.to, value: intent.value })
      throw new RelayerError('SIGNING_REFUSED', { detail: 'It is too much.' })
    },
  }
  const balanceOf = async (address: string) => (asked.push(address), poorHas)
  const network = { chains: new Map([['bsc', { name: 'bsc', balanceOf }]]) }
  const parts = { config: { chains: { bsc: chain }, notifications: [] }, client: {}, logger, metrics, network }
  const [service] = topUps(parts as never, [payer] as never)
  cleanUp(() => service!.stop())
  await until(async () => /top_up_due\{/.test(await metrics.render()) && asked.length > 1, { timeoutMs: 30_000, what: 'two rounds' })
  expect(new Set(asked)).toEqual(new Set([poor]))
  const due = /portage_lane_top_up_due\{lane="([^"]+)"\} (\d)/.exec(await metrics.render())
  expect(due?.[1]).toBe(id(poor))
  return { checked, due: due?.[2], held: lines.filter(({ code }) => code === 'TOP_UP_HELD').map(({ reason }) => String(reason)) }
}

test('a lane with its minimum is left alone', async () => {
  expect(await round('100', '10')).toEqual({ checked: [], due: '0', held: [] })
})

test('a payment is at most that of the config, and one that the key refuses is logged once', async () => {
  const { checked, due, held } = await round('100', '9')
  expect([checked[0], due]).toEqual([{ to: poor, value: '30' }, '1'])
  expect(held).toEqual([expect.stringContaining('It is too much.')])
  expect((await round('100', '9', { level: '20' })).checked[0]).toEqual({ to: poor, value: '11' })
})

test('the lane that pays keeps the minimum, and pays nothing before its own balance is read', async () => {
  expect(await round('39', '9')).toEqual({ checked: [], due: '1', held: [`${id(from)} has 39 wei, and keeps 10 wei`] })
  expect(await round(undefined, '9')).toEqual({ checked: [], due: '1', held: [] })
})
