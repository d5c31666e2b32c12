import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { devnetTokenFeeWei } from '../../lab/devnet/relayer-config.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { forbidSignal, laneStatusQuery, pauseSignal, resumeSignal } from '../../temporal/contracts/lane.ts'
import { cancelSignal, retrySignal } from '../../temporal/contracts/transfer.ts'
import { auditId, type AuditInput } from '../../temporal/contracts/audit.ts'
import { chainQueue, laneWorkflowId } from '../../temporal/contracts/names.ts'
import { redeem } from '../lab/devnet/redeem.ts'
import { died, resubmit, sendCoins, startDoomed, startSound } from '../faults/processes.ts'
import { stuckInPool } from '../faults/stuck.ts'
import { mineDear, pooled, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'
import type { FixtureName } from './fixtures.ts'

/** Stores the history of a run. Must be called before the stage's Temporal server stops. */
export type Keep = (name: FixtureName, stage: Pick<Stage, 'temporal'>, workflowId: string, runId?: string) => Promise<void>

/**
 * Records histories with finality within a second and two lanes per chain. `recordFar` records the wait for a far
 * finality.
 */
export async function recordNear(keep: Keep): Promise<void> {
  const stage = await startStage({ worker: {}, broadcast: 'queue', keysPerChain: 2 })
  try {
    const first = await startSound(stage)
    // Record this run first, because later a worker may have an old status of a lane in its cache.
    await keep('waiting-and-retry', stage, await waitAndRetry(stage))
    await keep('happy-near-finality', stage, await happy(stage))
    await keep('declined', stage, await declined(stage))
    await keep('cancelled-with-noop', stage, await cancelled(stage))
    await keepLaneRuns(keep, stage)
    await stage.end(first)
    await crashAndMeetAnother(keep, stage)
  } finally {
    await stage.close()
  }
}

/** Records transfers whose calls stay in the pool: one past its deadline, and one on a forbidden lane. */
export async function recordStuck(keep: Keep): Promise<void> {
  const stage = await startStage({ worker: {}, broadcast: 'queue', keysPerChain: 2 })
  try {
    await stage.devnet.guardian.spy.stop()
    const portage = await startSound(stage, { configure: (config) => ({ ...config, transfers: { abandonAfterMinutes: 0 } }) })
    await keep('parked-by-deadline', stage, await overdue(stage, portage))
    await keep('nonce-left-to-its-lane', stage, await leftToItsLane(stage, portage))
  } finally {
    await stage.close()
  }
}

/** Records a transfer that waits while the base fee is above the ceiling, and an audit of its delivery. */
export async function recordDear(keep: Keep): Promise<void> {
  const ceiling = 50n * 10n ** 9n
  const stage = await startStage({ worker: {}, broadcast: 'queue' })
  try {
    const { anvil } = stage.devnet.chains.bsc
    // Each empty block lowers the base fee by an eighth, so no block is mined until the transfer waits.
    await stopMining(anvil)
    await mineDear(anvil, ceiling * 4n)
    const fees = { baseFeeCeiling: String(ceiling) }
    await startSound(stage, {
      configure: (config) => ({ ...config, chains: { ...config.chains, bsc: { ...config.chains['bsc'], fees } } }) as typeof config,
    })
    const [sent] = await sendCoins(stage, 1)
    await stage.reaches(sent!.id, 'waiting')
    await startMining(anvil)
    await stage.reaches(sent!.id, 'delivered', 60_000)
    await keep('waiting-for-fees', stage, sent!.id)
    const input: AuditInput = { chain: 'bsc', hours: 1, graceMs: 0 }
    const workflowId = `${auditId('bsc')}-recording`
    await stage.client.workflow.execute('audit', { workflowId, taskQueue: chainQueue('bsc'), args: [input] })
    await keep('audit-of-delivered', stage, workflowId)
  } finally {
    await stage.close()
  }
}

/**
 * Parks a transfer at its deadline, while blocks have room only for the lane's no-op, and then retries the transfer.
 */
async function overdue(stage: Stage, portage: PortageProcess): Promise<string> {
  const stuck = await stuckInPool(stage.devnet.chains.bsc.anvil)
  const [sent] = await sendCoins(stage, 1)
  const response = await fetch(`${portage.apiUrl}/v1/transfers`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...portage.admin },
    body: JSON.stringify({ vaa: Buffer.from(await stage.vaa(sent!)).toString('base64'), deadline: 0.2 }),
  })
  if (response.status !== 202) throw new Error(`The message was answered with ${response.status}`)
  const parked = async () => {
    await stuck.passBlock()
    return (await stage.status(sent!.id)).state === 'parked'
  }
  await until(parked, { timeoutMs: 90_000, everyMs: 400, what: 'the transfer to be parked' })
  await stuck.end()
  await stage.client.workflow.getHandle(sent!.id).signal(retrySignal)
  await stage.reaches(sent!.id, 'delivered', 60_000)
  return sent!.id
}

/** Forbids a transfer's lane while the transfer's call is in the pool. */
async function leftToItsLane(stage: Stage, portage: PortageProcess): Promise<string> {
  const { anvil } = stage.devnet.chains.bsc
  const stuck = await stuckInPool(anvil)
  const [sent] = await sendCoins(stage, 1)
  await resubmit(stage, portage, [sent!])
  const carrier = async () => {
    const pools = await Promise.all(bscKeys(stage).map((address) => pooled(anvil, address)))
    const index = pools.findIndex(({ length }) => length > 0)
    return index >= 0 && bscLanes(stage)[index]
  }
  const lane = await until(carrier, { timeoutMs: 30_000, what: 'the call to be in the pool' })
  await stage.client.workflow
    .getHandle(laneWorkflowId(lane))
    .signal(forbidSignal, { order: { by: 'night-shift', reason: 'a recording wants another lane' } })
  const moved = async () => {
    await stuck.passBlock()
    return (await stage.status(sent!.id)).rounds > 1
  }
  await until(moved, { timeoutMs: 90_000, everyMs: 400, what: 'the transfer to leave its nonce' })
  await stuck.end()
  await stage.reaches(sent!.id, 'delivered', 60_000)
  return sent!.id
}

/** Records a run while `finalized` lags 40 s behind, which is longer than `broadcast` observes a transaction. */
export async function recordFar(keep: Keep): Promise<void> {
  const stage = await startStage({ worker: {}, broadcast: 'queue', slotsInAnEpoch: 80, consistencyLevel: 200 })
  try {
    await startSound(stage)
    await keep('far-finality-with-confirm', stage, await happy(stage, 120_000))
  } finally {
    await stage.close()
  }
}

async function happy(stage: Stage, timeoutMs?: number): Promise<string> {
  const [sent] = await sendCoins(stage, 1)
  await stage.reaches(sent!.id, 'delivered', timeoutMs)
  return sent!.id
}

async function declined(stage: Stage): Promise<string> {
  const [sent] = await stage.send('ethereum', [{ kind: 'token', amount: devnetTokenFeeWei * 10n }])
  await stage.reaches(sent!.id, 'declined')
  return sent!.id
}

/** Makes a transfer wait while every lane is paused. Repeats `retry` until the workers know that the lanes are open. */
async function waitAndRetry(stage: Stage): Promise<string> {
  const lanes = bscLanes(stage).map((lane) => stage.client.workflow.getHandle(laneWorkflowId(lane)))
  const each = (look: (lane: (typeof lanes)[number]) => Promise<boolean>) => async () => (await Promise.all(lanes.map(look))).every(Boolean)
  const watched = { timeoutMs: 20_000, what: 'the lanes of bsc' }
  await until(
    each(async (lane) => (await lane.query(laneStatusQuery)).synced),
    watched,
  )
  for (const lane of lanes)
    await lane.signal(pauseSignal, { order: { by: 'night-shift', reason: 'a recording needs a transfer that waits' } })
  await until(
    each(async (lane) => (await lane.query(laneStatusQuery)).paused !== undefined),
    watched,
  )
  const [sent] = await sendCoins(stage, 1)
  await stage.reaches(sent!.id, 'waiting')
  for (const lane of lanes) await lane.signal(resumeSignal)
  const again = async () => {
    const { state } = await stage.status(sent!.id)
    if (state === 'waiting') await stage.client.workflow.getHandle(sent!.id).signal(retrySignal)
    return state === 'delivered'
  }
  await until(again, { timeoutMs: 60_000, everyMs: 2_000, what: 'the transfer to be delivered after retry' })
  return sent!.id
}

/** Cancels a transfer while its call is in the pool. Blocks have room only for the lane's no-op. */
async function cancelled(stage: Stage): Promise<string> {
  const { anvil } = stage.devnet.chains.bsc
  const stuck = await stuckInPool(anvil)
  const [sent] = await sendCoins(stage, 1)
  const inPool = async () => (await Promise.all(bscKeys(stage).map((address) => pooled(anvil, address)))).flat().length > 0
  await until(inPool, { timeoutMs: 30_000, what: 'the call to be in the pool' })
  await stage.client.workflow.getHandle(sent!.id).signal(cancelSignal, { order: { by: 'operator', reason: 'a recording wants a no-op' } })
  const over = async () => {
    await stuck.passBlock()
    return (await stage.status(sent!.id)).state === 'cancelled'
  }
  await until(over, { timeoutMs: 60_000, everyMs: 400, what: 'the cancelled transfer to end' })
  await stuck.end()
  return sent!.id
}

/**
 * A stranger redeems the first message before Portage. The process that delivers the second message dies between
 * signing and sending.
 */
async function crashAndMeetAnother(keep: Keep, stage: Stage): Promise<void> {
  const [met] = await sendCoins(stage, 1)
  const doomed = await startDoomed(stage, 'after-sign', 'kill', 1)
  const { bsc } = stage.devnet.chains
  await redeem(bsc, stage.devnet.outsiders.bsc, await stage.vaa(met!), { unwrap: false })
  await resubmit(stage, doomed, [met!])
  await stage.reaches(met!.id, 'delivered')
  await keep('delivered-by-other', stage, met!.id)
  const sent = await sendCoins(stage, 1)
  await died(stage, doomed)
  const sound = await startSound(stage)
  await resubmit(stage, sound, sent)
  await stage.reaches(sent[0]!.id, 'delivered', 60_000)
  await keep('retried-after-crash', stage, sent[0]!.id)
}

/** Keeps the first two runs of a ledger. The second run began with the state of the first. */
async function keepLaneRuns(keep: Keep, stage: Stage): Promise<void> {
  for (const lane of bscLanes(stage)) {
    const workflowId = laneWorkflowId(lane)
    const runs: { runId: string; startTime: Date }[] = []
    for await (const run of stage.client.workflow.list({ query: `WorkflowId = '${workflowId}' AND ExecutionStatus = 'ContinuedAsNew'` }))
      runs.push(run)
    const [first, second] = runs.toSorted((a, b) => a.startTime.getTime() - b.startTime.getTime())
    if (!first || !second) continue
    await keep('lane-first-run', stage, workflowId, first.runId)
    await keep('lane-continued-run', stage, workflowId, second.runId)
    return
  }
  throw new Error('No ledger has continued as new twice')
}

function bscKeys({ devnet }: Stage): string[] {
  return devnet.lanes.filter(({ chain }) => chain === 'bsc').map(({ address }) => address)
}

function bscLanes(stage: Stage): string[] {
  return bscKeys(stage).map((address) => laneId('evm', stage.devnet.chains.bsc.anvil.chainId, address))
}
