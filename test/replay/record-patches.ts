import { ApplicationFailure } from '@temporalio/common'
import { Worker } from '@temporalio/worker'
import { until } from '../../lab/devnet/until.ts'
import { laneId } from '../../domain/lane/lane-id.ts'
import { silentLogger } from '../../observability/logger.ts'
import { StreamClient } from '../../intake/streams/stream-client.ts'
import { laneQueue, ledgerQueue } from '../../temporal/contracts/names.ts'
import type { OperatorTransactionInput, SendOperatorTransactionResult } from '../../temporal/contracts/operator-transaction.ts'
import { type StreamInput, streamWorkflowId } from '../../temporal/contracts/stream.ts'
import { startSound } from '../faults/processes.ts'
import { runTemporalCli } from '../helpers/e2e-cli.ts'
import { startStage } from '../helpers/e2e.ts'
import { startLedgers } from '../lanes/setting.ts'
import type { FixtureName } from './fixtures.ts'
import { cancelled, type Keep } from './record.ts'

/** A stream that puts numbers aside, and takes one of them back. */
export async function recordStreamAside(keep: Keep): Promise<void> {
  const ledgers = await startLedgers()
  const { client } = ledgers.temporal
  const config = { stream: 'native-bridge:ethereum:bsc', origin: '1/0xaa', first: '1', start: 10, maxOpen: 5 }
  const begin = () => Promise.resolve<StreamInput>({ config, updatesPerRun: 4 })
  const streamClient = new StreamClient({ client, config, logger: silentLogger(), begin })
  const workflowId = streamWorkflowId(config.stream)
  const describe = () => client.workflow.getHandle(workflowId).describe()
  const numbers = ['1', '2', '3'].map((number): [string, number] => [number, 10])
  try {
    await streamClient.apply([{ kind: 'scanned', from: 10, to: 10, parentHash: '0x09', hash: '0x0a', numbers, passed: [] }])
    const { runId } = await describe()
    await streamClient.apply([{ kind: 'parked', number: '1', code: 'DELIVERY_IMPOSSIBLE' }])
    await streamClient.apply([{ kind: 'parked', number: '3', code: 'ASSET_UNWRAPPED', waits: true }])
    await streamClient.apply([{ kind: 'unparked', number: '1' }])
    await until(async () => (await describe()).runId !== runId, { timeoutMs: 20_000, what: 'the stream to go on in a new run' })
    const temporal = (...args: string[]) => runTemporalCli(ledgers.server, args)
    await keep('stream-aside', { temporal }, workflowId, runId)
  } finally {
    streamClient.close()
    await ledgers.stop()
  }
}

/** A transfer that is cancelled while its call is in the pool: it ends once each nonce that it held is final. */
export async function recordCancelled(keep: Keep): Promise<void> {
  const stage = await startStage({ worker: {}, keysPerChain: 2 })
  try {
    await startSound(stage)
    await keep('cancelled-by-nonces', stage, await cancelled(stage))
  } finally {
    await stage.close()
  }
}

/**
 * A payment that a later process refuses, after an earlier one had sent it: its step answers as told here.
 * @param name the recording: before the patch it ended `refused` at once
 */
export function recordRefused(name: FixtureName): (keep: Keep) => Promise<void> {
  return async (keep) => {
    const ledgers = await startLedgers()
    const { client, connection, namespace } = ledgers.temporal
    const lane = laneId('evm', 1_337, `0x${'ab'.repeat(20)}`)
    const held = { nonce: 7, tried: [{ kind: 'call' as const, hash: `0x${'cd'.repeat(32)}` }] }
    const block = { blockHeight: 12, blockHash: `0x${'ef'.repeat(32)}`, gasPaid: '21000' }
    const answers: (() => SendOperatorTransactionResult)[] = [
      () => ({ kind: 'pending', held, reason: 'it is in the pool' }),
      () => {
        throw ApplicationFailure.nonRetryable('the limits of the key were lowered', 'SPENDING_LIMIT')
      },
      () => ({ kind: 'final', nonce: 7, ok: true, txHash: held.tried[0]!.hash, ...block }),
    ]
    const sendOperatorTransaction = async () => answers.shift()!()
    const activities = { sendOperatorTransaction }
    const worker = await Worker.create({ connection, namespace, taskQueue: laneQueue(lane), activities, shutdownGraceTime: 0 })
    const running = worker.run()
    const workflowId = `operator-transaction:${name}`
    try {
      const input = { lane, intent: { to: `0x${'12'.repeat(20)}`, data: '0x', value: '5' }, by: 'operator', reason: 'a recording' }
      const run = { taskQueue: ledgerQueue, workflowId, args: [input] as [OperatorTransactionInput] }
      await (await client.workflow.start('operatorTransaction', run)).result()
      await keep(name, { temporal: (...args: string[]) => runTemporalCli(ledgers.server, args) }, workflowId)
    } finally {
      worker.shutdown()
      await running
      await ledgers.stop()
    }
  }
}
