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
  const times: StepTimes = { reached: () => 0, delivered: ({ sequence }) => void told.push(sequence), useless: () => {} }
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
  for (const sequence of ['1', '2', '3', '4']) delivered({ ...transfer, sequence }, undefined, '1')
  delivered({ ...transfer, sequence: '1', bridge: 'none' }, undefined, '1')
  expect(told).toEqual(['1', '2', '3', '4', '1'])
  const lines = async () => (await metrics.render()).split('\n').filter((line) => line.startsWith('portage_fees_earned_wei_total{'))
  await expect.poll(lines).toEqual(['portage_fees_earned_wei_total{chain="bsc",bridge="wormhole-token-bridge"} 6000000000000000'])
})

test('a paid request counts what was paid, and the coins that it carries as cost', async () => {
  const metrics = createMetrics()
  const endpoint = { delivery: () => ({ payment: { paid: '70', worth: '80', coins: '30' } }) }
  const bridges = new Map([['executor', { endpoints: onEveryChain(endpoint) } as unknown as Bridge]]) satisfies Bridges
  withEarnings(createStepTimes(metrics), bridges, metrics).delivered({ ...transfer, bridge: 'executor' }, undefined, '20')
  const lines = (await metrics.render()).split('\n')
  expect(lines).toContain('portage_fees_earned_wei_total{chain="bsc",bridge="executor"} 80')
  expect(lines).toContain('portage_delivery_cost_wei_total{chain="bsc",bridge="executor"} 50')
})
