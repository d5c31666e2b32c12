import { fileURLToPath } from 'node:url'
import { NativeConnection, Worker } from '@temporalio/worker'
import { laneId, type LaneId } from '../../domain/lane/lane.ts'
import type { ApplyRequest, ApplyResponse, LaneRequest } from '../../domain/lane/messages.ts'
import { batchPrefix, chainQueue, laneQueue, laneWorkflowId, ledgerQueue, transferId } from '../../temporal/contracts/names.ts'
import { laneStatusQuery } from '../../temporal/contracts/lane.ts'
import { callHash } from '../../lanes/deps.ts'
import type { LaneKey } from '../devnet/relayer-config.ts'
import { isNative } from '../devnet/sent.ts'
import { until } from '../devnet/until.ts'
import { findBelieved } from './believed.ts'
import { approval, forgedDropOffs, forgedMints, forgedNtt, inventedNonce, inventedTransfer, theft } from './forged-calls.ts'
import { forgedDeliveries } from './forged-deliveries.ts'
import { forgedMessages, forgedMismatch } from './forged-messages.ts'
import type { PlannedAttack } from './plan.ts'
import type { AttackScene } from './scene.ts'

/**
 * Fee that the forged orders `replace` demand, wei per gas. A no-op at this fee costs three times the limit of a
 * transaction, but less than the hourly limit.
 */
const ruinous = String(12n * 10n ** 12n)
/** Tip, wei per gas. It is below the config's limit for tips. */
const tip = String(10n ** 9n)

/** Attacks by somebody who reaches Temporal with a client and workers of his own. */
export const temporalAttacks = {
  'forged-operator-transaction': forgedOperatorTransaction,
  'forged-batch': forgedBatch,
  'forged-transfer': forgedTransfer,
  'forged-step': (scene: AttackScene, attack: PlannedAttack) => forgedStep(scene, attack, inventedNonce(attack.dice)),
  'forged-existing': async (scene: AttackScene, attack: PlannedAttack) => forgedStep(scene, attack, await existingNonce(scene, attack)),
  'forged-fees': forgedFees,
  'forged-mismatch': forgedMismatch,
  'forged-messages': forgedMessages,
  'moved-coins': movedCoins,
  wipe,
} as const

/**
 * Orders operator transactions that pay the thief, approve the thief for the bridge's tokens, or deliver something that
 * no user sent or paid for.
 */
async function forgedOperatorTransaction(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  const lane = victim(scene, attack)
  const intents = [
    theft(scene),
    approval(scene, attack.chain),
    await inventedTransfer(scene, attack.chain, inventedNonce(attack.dice)).call(),
    ...forgedNtt(scene, attack.chain, attack.dice),
    ...(await forgedMints(scene, attack.chain, attack.dice)),
    ...(await forgedDropOffs(scene, attack.chain, attack.dice)),
    ...(await forgedDeliveries(scene, attack.chain, attack.dice)),
  ]
  for (const [index, intent] of intents.entries()) {
    await scene.client.workflow.start('operatorTransaction', {
      workflowId: `operator-transaction:${lane}:forged-${attack.dice}-${index}`,
      taskQueue: ledgerQueue,
      args: [{ lane, intent, by: 'root', reason: 'urgent' }],
    })
  }
  return `${intents.length} operator transactions on ${lane}`
}

async function forgedBatch(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  const lane = victim(scene, attack)
  const intent = await inventedTransfer(scene, attack.chain, inventedNonce(attack.dice)).call()
  const workflowId = `${batchPrefix(lane)}forged-${attack.dice}`
  await scene.client.workflow.start('batch', { workflowId, taskQueue: ledgerQueue, args: [{ lane, intent, members: [], cleared: true }] })
  return workflowId
}

async function forgedTransfer(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  const { transfer } = inventedTransfer(scene, attack.chain, inventedNonce(attack.dice))
  const workflowId = transferId(transfer)
  await scene.client.workflow.start('transfer', { workflowId, taskQueue: chainQueue(attack.chain), args: [{ transfer }] })
  return workflowId
}

/** Sends steps directly to the queues of a lane and a chain, so that no workflow of Portage checks them first. */
async function forgedStep(scene: AttackScene, attack: PlannedAttack, nonce: bigint): Promise<string> {
  const lane = victim(scene, attack)
  const invented = inventedTransfer(scene, attack.chain, nonce)
  const intent = await invented.call()
  const fees = { maxFee: '2000000000', tip: '1000000000', gasLimit: '400000' }
  const broadcast = {
    ...{ ...fees, lane, intent, transfer: invented.transfer, callHash: callHash(intent), mode: 'new', priority: 1 },
    intentId: `${transferId(invented.transfer)}/1`,
  }
  const payment = {
    intentId: `operator-transaction:${lane}:step-${attack.dice}/1`,
    lane,
    intent: theft(scene),
    lookUpOnly: false,
    cancel: false,
  }
  const connection = await NativeConnection.connect({ address: scene.devnet.temporal.address })
  try {
    const taskQueue = `hostile-${attack.dice}`
    const worker = await Worker.create({
      connection,
      taskQueue,
      workflowsPath: fileURLToPath(new URL('./hostile-workflow.ts', import.meta.url)),
    })
    const hostile = (name: string, queue: string, steps: Record<string, unknown>) =>
      scene.client.workflow.execute('hostile', { taskQueue, workflowId: `hostile-${name}-${attack.dice}`, args: [queue, steps] })
    const atLane = { broadcast, sendOperatorTransaction: payment, broadcastBatch: { ...payment, intent, members: [] } }
    const atChain = { ...atLane, broadcastLocally: broadcast }
    await worker.runUntil(Promise.all([hostile('lane', laneQueue(lane), atLane), hostile('chain', chainQueue(attack.chain), atChain)]))
  } finally {
    await connection.close()
  }
  return `three steps on ${lane}, four on the queue of its chain`
}

/** The nonce of an honest native transfer. The forged step gives this transfer a false recipient and amount. */
async function existingNonce({ sent, devnet }: AttackScene, { chain }: PlannedAttack): Promise<bigint> {
  const find = async () => {
    const one = sent.filter(isNative).find(({ source }) => source !== chain)
    if (!one) return undefined
    const { number } = await devnet.chains[one.source as 'ethereum' | 'bsc'].anvil.rpc<{ number: string }>('eth_getBlockByNumber', [
      'finalized',
      false,
    ])
    return Number(number) >= one.height ? one : undefined
  }
  return (await until(find, { timeoutMs: 60_000, what: `a final native transfer to ${chain}` })).nonce
}

/** Orders payments from lane to lane. A thief of one key could use such payments to collect the coins of all lanes. */
async function movedCoins({ client, devnet }: AttackScene, { chain, dice }: PlannedAttack): Promise<string> {
  const lanes = devnet.lanes.filter((lane) => lane.chain === chain)
  for (const [index, { address }] of lanes.entries()) {
    const lane = laneId('evm', devnet.chains[chain].anvil.chainId, address)
    const to = (lanes[(index + 1) % lanes.length] as LaneKey).address.toLowerCase()
    const intent = { to, data: '0x', value: String(10n ** 18n) }
    const workflowId = `operator-transaction:${lane}:moved-${dice}`
    await client.workflow.start('operatorTransaction', {
      workflowId,
      taskQueue: ledgerQueue,
      args: [{ lane, intent, by: 'root', reason: 'top-up' }],
    })
  }
  return `${lanes.length} payments between lanes`
}

async function forgedFees(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  const lane = victim(scene, attack)
  const handle = scene.client.workflow.getHandle(laneWorkflowId(lane))
  const state = await handle.query(laneStatusQuery)
  const open = Object.keys(state.entries)
    .map(Number)
    .filter((nonce) => nonce >= (state.observed?.latest ?? 0))
  const owner = { intentId: `forged-${attack.dice}/1`, callHash: `0x${'00'.repeat(32)}` }
  const first = { kind: 'noop', gasLimit: '30000000', maxFee: '1000000000', tip: '1000000000' } as const
  const requests: LaneRequest[] = [
    { kind: 'grant', id: `forged-${attack.dice}`, owner, attempt: { ...first, kind: 'call' } },
    ...open.map((nonce) => ({ kind: 'replace', id: `forged-${attack.dice}-${nonce}`, nonce, maxFee: ruinous, tip }) as const),
  ]
  await handle.executeUpdate<ApplyResponse, [ApplyRequest]>('apply', { args: [{ requests }] })
  return `${requests.length} requests to the ledger of ${lane}`
}

/** Deletes everything in Temporal. Halts, revoked tokens and notified receivers must survive. */
async function wipe(scene: AttackScene): Promise<string> {
  const { devnet, locks } = scene
  await locks.temporal.run(async () => {
    await findBelieved(scene)
    // The judge searches this copy of the database for secrets.
    await devnet.temporal.copy()
    await devnet.temporal.restartFrom('nothing')
  })
  return 'Temporal knows nothing'
}

function victim({ devnet }: AttackScene, { chain, dice }: PlannedAttack): LaneId {
  const lanes = devnet.lanes.filter((lane) => lane.chain === chain)
  const { address } = lanes[Math.floor(dice * lanes.length)] as LaneKey
  return laneId('evm', devnet.chains[chain].anvil.chainId, address)
}
