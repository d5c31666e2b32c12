import { ApplicationFailure } from '@temporalio/common'
import { Worker } from '@temporalio/worker'
import { createLaneSteps } from '../../activities/index.ts'
import { freshAddress } from '../../lab/devnet/chain/accounts.ts'
import { until } from '../../lab/devnet/until.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import {
  cancelOperatorTransactionSignal,
  type OperatorTransactionInput,
  type OperatorTransactionStatus,
  type SendOperatorTransactionResult,
} from '../../temporal/contracts/operator-transaction.ts'
import { laneQueue, ledgerQueue } from '../../temporal/contracts/names.ts'
import { runTemporalCli } from '../helpers/e2e-cli.ts'
import { pooled } from '../helpers/e2e-chain.ts'
import { devnetSigner } from '../helpers/evm.ts'
import { startLaneSetting, startLedgers } from '../lanes/setting.ts'
import type { Keep } from './record.ts'

/** Records an operator transaction that is mined only after a check, and one that ends with a no-op. */
export async function recordOperatorTransactions(keep: Keep): Promise<void> {
  const setting = await startLaneSetting()
  const signer = await devnetSigner(20)
  const agent = await setting.agent(signer)
  const { client, connection, namespace } = setting.ledgers.temporal
  const deps = { bridges: new Map(), agent, chain: setting.chain, settings: () => noSettings, fees: () => ({}) }
  const activities = createLaneSteps(deps)
  const worker = await Worker.create({ connection, namespace, taskQueue: laneQueue(agent.lane), activities, shutdownGraceTime: 0 })
  const running = worker.run()
  const stage = { temporal: (...args: string[]) => runTemporalCli(setting.ledgers.server, args) }
  const start = (workflowId: string) => {
    const input = { lane: agent.lane, intent: { to: freshAddress(), data: '0x', value: '5' }, by: 'operator', reason: 'a recording' }
    const run = { taskQueue: ledgerQueue, workflowId, args: [input] as [OperatorTransactionInput] }
    return client.workflow.start<(input: OperatorTransactionInput) => Promise<OperatorTransactionStatus>>('operatorTransaction', run)
  }
  const inPool = () => pooled(setting.anvil, signer.address)
  const waiting = { timeoutMs: 60_000, everyMs: 200 }
  try {
    const paid = await start('operator-transaction:paid')
    const pending = async () => (await paid.query<OperatorTransactionStatus>('status')).state === 'pending'
    await until(pending, { ...waiting, what: 'a check that finds it unmined' })
    await setting.mine(3)
    await paid.result()
    await keep('operator-transaction-paid', stage, 'operator-transaction:paid')

    const cancelled = await start('operator-transaction:cancelled')
    await until(async () => (await inPool()).length === 1, { ...waiting, what: 'the payment to be in the pool' })
    await cancelled.signal(cancelOperatorTransactionSignal, { order: { by: 'operator', reason: 'a recording wants a no-op' } })
    const noop = () => setting.passBlock().then(async () => (await inPool())[0]?.to === signer.address)
    await until(noop, { ...waiting, what: 'the no-op' })
    const over = () => setting.mine().then(async () => (await cancelled.describe()).status.name === 'COMPLETED')
    await until(over, { ...waiting, what: 'the operator transaction to end' })
    await keep('operator-transaction-cancelled', stage, 'operator-transaction:cancelled')
  } finally {
    worker.shutdown()
    await running
    await setting.stop()
  }
}

/** Records a payment that one process sends and a later process refuses. The step is scripted. */
export async function recordRefused(keep: Keep): Promise<void> {
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
  const workflowId = 'operator-transaction:refused'
  try {
    const input = { lane, intent: { to: `0x${'12'.repeat(20)}`, data: '0x', value: '5' }, by: 'operator', reason: 'a recording' }
    const run = { taskQueue: ledgerQueue, workflowId, args: [input] as [OperatorTransactionInput] }
    await (await client.workflow.start('operatorTransaction', run)).result()
    await keep('operator-transaction-refused', { temporal: (...args: string[]) => runTemporalCli(ledgers.server, args) }, workflowId)
  } finally {
    worker.shutdown()
    await running
    await ledgers.stop()
  }
}
