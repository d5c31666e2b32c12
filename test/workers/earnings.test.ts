import { expect, test } from 'vitest'
import type { Bridge, Bridges } from '../../bridges/port.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { createStepTimes, type StepTimes } from '../../observability/step-times.ts'
import { withEarnings } from '../../workers/roles/context.ts'
import { transfer } from '../workflows/scripted.ts'
import { onEveryChain } from '../helpers/on-every-chain.ts'

test('the fee of a delivered transfer counts at its configured price, and errors stop nothing', async () => {
  const metrics = createMetrics()
  const told: string[] = []
  const times: StepTimes = { reached: () => 0, delivered: ({ sequence }) => void told.push(sequence), useful: () => {}, useless: () => {} }
  const worth: Record<string, () => bigint | undefined> = {
    1: () => 5n * 10n ** 15n,
    2: () => undefined,
    3: () => {
      throw new Error('no message')
    },
    4: () => 10n ** 15n,
  }
  const endpoint = { delivery: ({ sequence }: { sequence: string }) => ({ earned: async () => worth[sequence]?.() }) }
  const bridges = new Map([['wormhole-token-bridge', { endpoints: onEveryChain(endpoint) } as unknown as Bridge]]) satisfies Bridges
  const { delivered } = withEarnings(times, bridges, metrics)
  for (const sequence of ['1', '2', '3', '4']) delivered({ ...transfer, sequence }, undefined)
  delivered({ ...transfer, sequence: '1', bridge: 'none' }, undefined)
  expect(told).toEqual(['1', '2', '3', '4', '1'])
  const lines = async () => (await metrics.render()).split('\n').filter((line) => line.startsWith('portage_fees_earned_wei_total{'))
  await expect.poll(lines).toEqual(['portage_fees_earned_wei_total{chain="bsc",bridge="wormhole-token-bridge"} 6000000000000000'])
})

/** The fees that count for a transfer of `bridge` whose delivery is planned as `planned`. */
async function feesOf(bridge: string, planned: object, fee?: string): Promise<string[]> {
  const metrics = createMetrics()
  const bridges = new Map([[bridge, { endpoints: onEveryChain({ delivery: () => planned }) } as unknown as Bridge]]) satisfies Bridges
  const { delivered, useful } = withEarnings(createStepTimes(metrics), bridges, metrics)
  delivered({ ...transfer, bridge }, undefined, fee)
  useful({ ...transfer, bridge }, 50n)
  await new Promise(setImmediate)
  const lines = (await metrics.render()).split('\n')
  expect(lines).toContain(`portage_delivery_cost_wei_total{chain="bsc",bridge="${bridge}"} 50`)
  return lines.filter((line) => line.startsWith('portage_fees_earned_wei_total{'))
}

test('a paid request counts what was paid as its fee, and only its transactions as cost', async () => {
  expect(await feesOf('executor', { payment: { paid: '70', worth: '80', coins: '30' } })).toEqual([
    'portage_fees_earned_wei_total{chain="bsc",bridge="executor"} 80',
  ])
})

test('the fee of a plug-in counts in full, because its coins count as cost', async () => {
  const whole = ['portage_fees_earned_wei_total{chain="bsc",bridge="mine"} 20']
  expect(await feesOf('mine', { intent: { value: '7' }, earned: async () => 13n })).toEqual(whole)
  expect(await feesOf('mine', { intent: { value: '27' }, earned: async () => -7n })).toEqual(whole)
})

test('a process that does not run the plug-in counts the fee that the admission named', async () => {
  expect(await feesOf('mine', { earned: () => Promise.reject(new Error('not here')) }, '20')).toEqual([
    'portage_fees_earned_wei_total{chain="bsc",bridge="mine"} 20',
  ])
  for (const forged of ['-20', '20 wei']) expect(await feesOf('mine', {}, forged)).toEqual([])
})
