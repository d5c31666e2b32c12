import type { Client } from '@temporalio/client'
import { id as hashOf } from 'ethers'
import { laneId } from '../../domain/lane/lane.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { chainQueue, laneWorkflowId, searchAttributes, settingsWorkflowId, transferId } from '../../temporal/contracts/names.ts'
import { strangersQueue } from '../demo/follow.ts'
import { isNative } from '../devnet/sent.ts'
import { toUniversal } from '../devnet/wormhole/vaa.ts'
import { inventedTransfer } from './forged-calls.ts'
import type { PlannedAttack } from './plan.ts'
import type { AttackScene } from './scene.ts'

const most = 10

const long = 'x'.repeat(100_000)
/** Arguments that no signal of Portage accepts. */
const junk: readonly unknown[][] = [
  [],
  [null],
  [42],
  ['text'],
  [[]],
  [{}],
  [{ message: 5 }],
  [{ order: 7 }],
  [{ window: 'wide' }],
  [{ message: '%%%' }],
]
/** Sequence numbers that no source issues. */
const noNumbers = ['junk', '-1', '1e9', '', '0x1', '01', '1.5', '2:3', ' ', 'NaN']
const requests: readonly unknown[] = [
  ...[undefined, null, 5, 'text', [], {}, { requests: null }, { requests: [null] }, { requests: [{ kind: 'nope', id: '1' }] }],
  ...[{ requests: [{ kind: 'grant', id: '1' }] }, { requests: [{ kind: 'replace', id: '1', nonce: 'NaN' }] }, { requests: [], observe: 5 }],
  ...[{ requests: [{ kind: 'attempt', id: '1', nonce: -1, index: 2 ** 60, attempt: {} }] }, { requests: [], known: { era: 'x' } }],
  ...[{ orders: [] }, { by: 5, reason: {}, orders: 'halt' }, { by: '', reason: '', orders: [{ kind: 'halt', scope: {} }] }],
  ...[
    { by: 'a', reason: long, orders: [{ kind: 'halt', scope: {} }] },
    { by: 'a', reason: 'b', orders: [{ kind: 'setNode', change: null }] },
  ],
  // Well-formed requests, but more of them than a workflow task has time to apply.
  { requests: Array.from({ length: 15_000 }, (_, number) => ({ kind: 'parked', number: String(number), code: 'X', waits: true })) },
  { requests: [{ kind: 'undone', numbers: Array.from({ length: 5_000 }, (_, number) => [String(2 * number), String(2 * number)]) }] },
  { requests: Array.from({ length: 15_000 }, (_, id) => ({ kind: 'find', id: String(id), intentId: 'x/1' })) },
  JSON.parse('{"__proto__":{"requests":[]},"requests":[{"__proto__":{"kind":"pause"}}]}'),
]

export async function forgedMessages({ client, devnet }: AttackScene): Promise<string> {
  const ledgers = devnet.lanes.map(({ chain, address }) =>
    laneWorkflowId(laneId('evm', devnet.chains[chain as 'ethereum' | 'bsc'].anvil.chainId, address)),
  )
  const [streams, transfers, operators] = await Promise.all(
    ['stream', 'transfer', 'operatorTransaction'].map((type) => running(client, type)),
  )
  const sent = [
    ...[...ledgers, ...(streams ?? [])].flatMap((id) => requests.map((request) => update(client, id, 'apply', request))),
    ...requests.map((request) => update(client, settingsWorkflowId, 'change', request)),
    ...ledgers.flatMap((id) => junk.map((args) => signal(client, id, 'setWindow', args))),
    ...(transfers ?? []).flatMap((id) =>
      ['adopt', 'rolledBack', 'expedite', 'no-such-signal'].flatMap((name) => junk.map((args) => signal(client, id, name, args))),
    ),
    ...(operators ?? []).flatMap((id) => junk.map((args) => signal(client, id, 'signed', args))),
  ]
  const taken = (await Promise.all(sent)).filter(Boolean).length
  return `${sent.length} messages, ${taken} accepted`
}

/**
 * Starts 30 invented transfers: 10 with nonces of the native bridge, 10 with the next sequences of the token bridge,
 * and 10 whose sequence is not a number. Only the first 10 run, because no worker serves `strangersQueue`. Honest
 * transfers must still arrive.
 */
export async function forgedMismatch(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  const { tokenBridge, wormholeChainId, name } = scene.devnet.chains[attack.chain === 'ethereum' ? 'bsc' : 'ethereum']
  const emitter = toUniversal(tokenBridge)
  const numbers = scene.sent.flatMap((one) => (!isNative(one) && one.emitter === emitter ? [one.sequence] : []))
  const next = numbers.reduce((highest, one) => (one > highest ? one : highest), 0n) + 1n
  const bridge = 'wormhole-token-bridge'
  for (let number = 0n; number < 10n; number++) {
    const { transfer } = inventedTransfer(scene, attack.chain, number)
    await forge(scene, { ...transfer, digest: digestOf(attack, number) }, chainQueue(attack.chain))
    const claim = { bridge, sourceChain: name, sourceId: String(wormholeChainId), targetChain: attack.chain, emitter, message: 'AQ==' }
    await forge(scene, { ...claim, sequence: String(next + number), digest: digestOf(attack, number) }, strangersQueue)
    await forge(scene, { ...claim, sequence: noNumbers[Number(number)] ?? '', digest: digestOf(attack, number) }, strangersQueue)
  }
  return `30 transfers to ${attack.chain} that contradict their source`
}

async function forge({ client }: AttackScene, transfer: Transfer, taskQueue: string): Promise<void> {
  const { TransferState, Bridge, SourceChain, TargetChain } = searchAttributes
  await client.workflow.start('transfer', {
    ...{ workflowId: transferId(transfer), taskQueue, args: [{ transfer }] },
    typedSearchAttributes: [
      { key: TransferState, value: 'admitting' },
      { key: Bridge, value: transfer.bridge },
      { key: SourceChain, value: transfer.sourceChain },
      { key: TargetChain, value: transfer.targetChain },
    ],
  })
}

function digestOf({ dice }: PlannedAttack, number: bigint): string {
  return hashOf(`${dice} ${number}`)
}

async function running(client: Client, type: string): Promise<string[]> {
  const ids: string[] = []
  for await (const { workflowId } of client.workflow.list({ query: `WorkflowType = '${type}' AND ExecutionStatus = 'Running'` }))
    ids.push(workflowId)
  return ids.slice(0, most)
}

function signal(client: Client, id: string, name: string, args: unknown[]): Promise<boolean> {
  return isTaken(client.workflow.getHandle(id).signal(name, ...args))
}

function update(client: Client, id: string, name: string, request: unknown): Promise<boolean> {
  return isTaken(client.workflow.getHandle(id).executeUpdate(name, { args: [request] }))
}

function isTaken(sent: Promise<unknown>): Promise<boolean> {
  return sent.then(
    () => true,
    () => false,
  )
}
