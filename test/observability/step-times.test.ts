import { expect, test } from 'vitest'
import { readHistogram } from '../../lab/bench/histograms.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { createStepTimes } from '../../observability/step-times.ts'

const about = {
  ...{ bridge: 'native-bridge', sourceChain: 'ethereum', sourceId: 'ethereum', targetChain: 'movement' },
  ...{ emitter: '', sequence: '1', digest: '', message: '' },
}

test('the time of a step begins with the step before it, and that of a transfer when its message is seen', async () => {
  let now = 10_000
  const metrics = createMetrics()
  const times = createStepTimes(metrics, () => now)
  const admitted = times.reached('admitted', about, 9_800)
  now = 11_200
  times.reached('nonce', about, admitted)
  times.delivered(about, 8_000)
  const text = await metrics.render()
  const labels = 'chain="movement",bridge="native-bridge"'
  expect(text).toContain(`portage_transfer_step_seconds_sum{${labels},step="admitted"} 0.2`)
  expect(text).toContain(`portage_transfer_step_seconds_sum{${labels},step="nonce"} 1.2`)
  expect(text).toContain(`portage_transfer_seconds_sum{${labels}} 3.2`)
})

test('unknown and negative step times are left out, and small clock differences give no time below zero', async () => {
  const metrics = createMetrics()
  const times = createStepTimes(metrics, () => 1_000_000)
  for (const since of [undefined, Number.NaN, Infinity, -1e15, 1e15, 'soon' as unknown as number]) {
    times.reached('nonce', about, since)
    times.delivered(about, since)
  }
  expect(readHistogram(await metrics.render(), 'portage_transfer_step_seconds')).toEqual([])
  times.reached('nonce', about, 1_000_250)
  expect(await metrics.render()).toContain('step="nonce"} 0\n')
})
