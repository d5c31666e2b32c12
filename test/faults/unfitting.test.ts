import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changeSettings, readSettings } from '../../temporal/client/settings/settings.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import type { AnySent } from '../../lab/devnet/sent.ts'
import { until } from '../../lab/devnet/until.ts'
import { silentLogger } from '../../observability/logger.ts'
import { connectTemporal } from '../../workers/process/temporal.ts'
import { untilInBatches } from '../helpers/e2e-batches.ts'
import { startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectAllProved, sendNatives, untilDelivered } from '../helpers/e2e-native.ts'
import { type Stage, ledgerId, startStage } from '../helpers/e2e.ts'
import { spoil } from '../temporal/recovery/spoil.ts'
import { sendCoins, startSound } from './processes.ts'

const open = `WorkflowType IN ('lane', 'stream', 'settings', 'batch') AND ExecutionStatus = 'Running'`
const known = { bridges: ['wormhole-token-bridge'], lanes: [], nodes: { ethereum: [], bsc: [] } }
const halt = { kind: 'halt', scope: { targetChain: 'ethereum' } } as const

describe('histories that no build can replay, of every workflow that transfers need', () => {
  let stage: Stage
  let portage: PortageProcess
  const sent: AnySent[] = []

  beforeAll(async () => {
    stage = await startStage({ native: 'fixed', batch: 20, auditMinutes: 0.1 })
    portage = await startSound(stage)
  })
  afterAll(() => stage?.close())

  test('pending and later transfers are delivered once, and orders stay in force', async () => {
    const { anvil } = stage.devnet.chains.bsc
    sent.push(...(await sendCoins(stage, 1)), ...(await sendNatives(stage, 'ethereum', 1)))
    await untilDelivered(stage, sent)
    const ordered = await changeSettings(stage.client, known, { by: 'night-shift', reason: 'a test', orders: [halt] })
    await stopMining(anvil)
    sent.push(...(await sendCoins(stage, 3)), ...(await sendNatives(stage, 'ethereum', 8)))
    // Eleven calls: three deliver coins and eight native transfers. Some calls share a transaction.
    await untilInBatches(stage, 11)
    await stage.end(portage, 'SIGKILL')

    const listed = async () => {
      const found = new Map<string, string>()
      for await (const { workflowId, runId } of stage.client.workflow.list({ query: open })) found.set(workflowId, runId)
      const types = new Set([...found.keys()].map((id) => id.split(':')[0]))
      return ['lane', 'stream', 'settings', 'batch'].every((type) => types.has(type)) && found
    }
    const runs = await until(listed, { timeoutMs: 60_000, everyMs: 200, what: 'all of them to be listed' })
    const temporal = await connectTemporal({ address: stage.devnet.temporal.address, namespace: 'default' }, silentLogger())
    try {
      await spoil(temporal, [...runs.keys()])
    } finally {
      await temporal.connection.close()
    }

    await startSound(stage)
    const ledger = ledgerId(stage.devnet, 'bsc')
    const isReset = async () => (await stage.client.workflow.getHandle(ledger).describe()).runId !== runs.get(ledger)
    await until(isReset, { timeoutMs: 150_000, everyMs: 200, what: 'the lane to be reset' })
    await startMining(anvil)
    sent.push(...(await sendCoins(stage, 2)), ...(await sendNatives(stage, 'ethereum', 2)))
    await expectAllProved(stage, sent)
    expect(await readSettings(stage.client)).toMatchObject({ version: ordered.after.version, halts: [{ by: 'night-shift' }] })
  }, 600_000)
})
