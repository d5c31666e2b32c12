import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../lab/devnet/ports.ts'
import { until } from '../../lab/devnet/until.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { processMetrics } from '../../workers/telemetry/process-metrics.ts'
import { startManualAnvil, testChain } from '../helpers/evm.ts'
import { metricValue } from '../helpers/metrics.ts'

let anvil: Awaited<ReturnType<typeof startManualAnvil>>
beforeAll(async () => {
  anvil = await startManualAnvil()
})
afterAll(() => anvil?.stop())

test('of two nodes that read, one that is down leaves no majority, disabled or not', async () => {
  const chain = testChain([anvil.url, `http://127.0.0.1:${await freePort()}`])
  try {
    await chain.connect()
    const network = { chains: new Map([['test', chain]]) }
    const metrics = processMetrics(network, [], () => noSettings)
    const quorum = () => metricValue(metrics, 'portage_chain_quorum', { chain: 'test' })
    const oneIsDown = () => chain.nodes()[0]?.state === 'up' && chain.nodes()[1]?.state !== 'up'
    await until(oneIsDown, { timeoutMs: 60_000, what: 'the second node alone to be down' })
    expect(await quorum()).toBe(0)
    chain.adjustNodes([{ chain: 'test', name: 'node-2', disabled: true }])
    expect(await quorum()).toBe(0)
  } finally {
    chain.close()
  }
})
