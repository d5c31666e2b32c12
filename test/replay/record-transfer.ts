import { Worker } from '@temporalio/worker'
import { startTemporal } from '../../lab/devnet/temporal/temporal.ts'
import { until } from '../../lab/devnet/until.ts'
import { silentLogger } from '../../observability/logger.ts'
import { chainQueue, laneQueue } from '../../temporal/contracts/names.ts'
import { statusQuery, type TransferInput } from '../../temporal/contracts/transfer.ts'
import type { Admission, BroadcastResult, Confirmation, Ready } from '../../temporal/contracts/transfer-steps.ts'
import { workflowBundle } from '../../workers/process/bundle.ts'
import { connectTemporal } from '../../workers/process/temporal.ts'
import { runTemporalCli } from '../helpers/e2e-cli.ts'
import type { Stage } from '../helpers/e2e.ts'
import type { Keep } from './record.ts'

const lane = 'evm-1337:0xa'
const landed = { nonce: 7, txHash: '0x07', blockHeight: 9, blockHash: '0x09', gasPaid: '1', attempts: 1, tried: [] }
const ready: Ready = { kind: 'ready', lane, callHash: '0x', gasLimit: '1', maxFee: '1', tip: '1' }
const transfer = {
  ...{ bridge: 'wormhole-token-bridge', sourceChain: 'ethereum', sourceId: '2', targetChain: 'bsc', emitter: '00'.repeat(32) },
  ...{ sequence: '1', digest: `0x${'00'.repeat(32)}`, message: 'b3du' },
}

interface Steps {
  readonly admit?: (tries: number) => Admission
  readonly broadcast: (tries: number) => BroadcastResult
  readonly confirm?: () => Confirmation
}

async function withSteps(
  { admit = () => ready, broadcast, confirm = () => ({ kind: 'gone' }) }: Steps,
  use: (run: Pick<Stage, 'temporal'> & { id: string; reaches(state: string): Promise<unknown> }) => Promise<void>,
): Promise<void> {
  const server = await startTemporal({ inMemory: true, headless: true })
  const { client, connection } = await connectTemporal({ address: server.address, namespace: 'default' }, silentLogger())
  let [admissions, tries] = [0, 0]
  const activities = {
    admit: async () => admit(++admissions),
    broadcast: async () => broadcast(++tries),
    confirm: async () => confirm(),
    confirmEnd: async () => ({ kind: 'free' }),
    getLaneStatus: async () => ({ lane: { lane, open: true }, others: 0, abandonAfterMs: 0 }),
    withdraw: async () => ({ kind: 'held', nonce: landed.nonce }),
  }
  const bundle = await workflowBundle(silentLogger())
  const workers = await Promise.all(
    [chainQueue('bsc'), laneQueue(lane)].map((taskQueue) =>
      Worker.create({ connection, taskQueue, activities, workflowBundle: bundle, shutdownGraceTime: 0 }),
    ),
  )
  const running = workers.map((worker) => worker.run())
  try {
    const id = 'wormhole-token-bridge:2:recording'
    const args: [TransferInput] = [{ transfer }]
    const handle = await client.workflow.start('transfer', {
      workflowId: id,
      taskQueue: chainQueue('bsc'),
      args,
    })
    const reaches = (state: string) =>
      until(async () => (await handle.query(statusQuery)).state === state, { timeoutMs: 60_000, what: `the transfer to be ${state}` })
    await use({ id, temporal: (...args) => runTemporalCli(server, args), reaches })
  } finally {
    for (const worker of workers) worker.shutdown()
    await Promise.all(running)
    await connection.close()
    await server.stop()
  }
}

/** Records a transfer that is cancelled through Temporal while its call is in the pool. */
export async function recordCancelByTemporal(keep: Keep): Promise<void> {
  const pool: BroadcastResult = { kind: 'pending', nonce: landed.nonce, attempts: 1, reason: 'blocks are full', tried: [] }
  const broadcast = (tries: number): BroadcastResult => (tries === 1 ? pool : { kind: 'spent', nonce: landed.nonce, by: 'noop', tried: [] })
  await withSteps({ broadcast }, async ({ id, temporal, reaches }) => {
    await reaches('pending')
    await temporal('workflow', 'cancel', '--workflow-id', id)
    const ended = async () => !(await temporal('workflow', 'describe', '-w', id, '-o', 'json')).stdout.includes('EXECUTION_STATUS_RUNNING')
    await until(ended, { timeoutMs: 60_000, what: 'the run to end' })
    await keep('cancelled-by-temporal', { temporal }, id)
  })
}

/** Records a transfer that gets its attestation after its start, and that needs two calls. */
export async function recordStages(keep: Keep): Promise<void> {
  const waits: Admission = { kind: 'waiting', code: 'DELIVERY_NOT_DUE', reason: 'it is in the queue', retryInMs: 1_000 }
  const admissions: readonly Admission[] = [{ kind: 'attested', message: 'AAAA' }, { ...ready, stage: 'receive' }, waits]
  const steps: Steps = {
    admit: (tries) => admissions[tries - 1] ?? { ...ready, stage: 'complete' },
    broadcast: (tries) => (tries === 1 ? { kind: 'included', landed, finalInMs: 0 } : { kind: 'delivered', landed }),
    confirm: () => ({ kind: 'passed', delivery: { ours: true, txHash: landed.txHash, blockHeight: landed.blockHeight } }),
  }
  await withSteps(steps, async ({ id, temporal, reaches }) => {
    await reaches('delivered')
    await keep('delivered-in-stages', { temporal }, id)
  })
}
