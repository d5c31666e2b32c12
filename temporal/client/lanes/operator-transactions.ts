import { createHash, randomBytes } from 'node:crypto'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Order } from '../../../domain/order.ts'
import { summaryText } from '../../../domain/text/web-ui-text.ts'
import { pause } from '../../../runtime/wait.ts'
import { operatorTransactionPrefix } from '../../contracts/names.ts'
import {
  cancelOperatorTransactionSignal,
  operatorTransactionSignedSignal,
  type SignedHash,
  type OperatorTransactionInput,
  type OperatorTransactionStatus,
  operatorTransactionStatusQuery,
} from '../../contracts/operator-transaction.ts'
import { type LaneId, workflowOf } from '../../../domain/lane/lane.ts'
import { checkedOrder, startUnlessTaken } from '../calls/workflow-calls.ts'
import { listWorkflows, type TemporalClient, within } from '../connection/client.ts'
import { fromTemporal, ifGone, isGone, rethrowAs } from '../connection/errors.ts'
import { listLaneWorkflows } from './lanes.ts'

const recordMs = 10_000
const queryMs = 5_000

export type OperatorTransactionRow = Awaited<ReturnType<typeof listOperatorTransactions>>[number]

export async function listOperatorTransactions(client: TemporalClient, lane: LaneId, closed: number) {
  const rows = await listLaneWorkflows(client, lane, 'operatorTransaction', closed, operatorTransactionStatusQuery)
  return rows.map(({ memo: _, ...row }) => row)
}

/** Accepts the first 8 to 16 digits of an id's last part. Throws INPUT_INVALID unless exactly one id fits. */
export async function findOperatorTransaction(client: TemporalClient, given: string): Promise<string> {
  if (given.startsWith(operatorTransactionPrefix) || !/^[0-9a-f]{8,16}$/.test(given)) return given
  const isWanted = ({ workflowId }: { readonly workflowId: string }) => workflowId.slice(workflowId.lastIndexOf(':') + 1).startsWith(given)
  const runs = await listWorkflows(client, `WorkflowType = 'operatorTransaction'`, { isWanted }).catch(rethrowAs({}, { id: given }))
  const [one, ...more] = new Set(runs.map(({ workflowId }) => workflowId))
  if (one !== undefined && more.length === 0) return one
  throw refusal(
    given,
    one === undefined
      ? 'There is no such operator transaction (portage lane transactions <lane>).'
      : `Several have this id: ${[one, ...more].join(', ')}.`,
  )
}

/** Starts nothing if the person has already used `key` for this lane. Throws INPUT_INVALID and TEMPORAL_UNAVAILABLE. */
export async function startOperatorTransaction(
  client: TemporalClient,
  input: Pick<OperatorTransactionInput, 'lane' | 'intent'>,
  order: Order,
  key?: string,
): Promise<string> {
  const id = idOf(input.lane, key === undefined ? undefined : [order.by, key])
  await start(client, id, input, order, 'REJECT_DUPLICATE')
  return id
}

/** The next top-up of a lane waits this long after a top-up that did not end as `done`. */
const afterFailureMs = 10 * 60_000

/**
 * Returns undefined if the lane's last top-up is open or has just failed. Throws INPUT_INVALID and
 * TEMPORAL_UNAVAILABLE.
 */
export async function startTopUp(
  client: TemporalClient,
  input: Pick<OperatorTransactionInput, 'lane' | 'intent' | 'onlyBelow'>,
  order: Order,
): Promise<string | undefined> {
  const id = idOf(input.lane, [order.by, `top-up ${input.intent.to}`])
  const last = await within(client, recordMs, () => client.workflow.getHandle(id).describe())
    .catch(ifGone(undefined))
    .catch(rethrowAs({}, { id }))
  if (last?.closeTime && Date.now() - last.closeTime.getTime() < afterFailureMs) {
    const ended = await operatorTransactionResult(client, id).catch(() => undefined)
    if (ended?.state !== 'done') return undefined
  }
  if (last?.status.name === 'RUNNING') return undefined
  const isNew = await start(client, id, { ...input, firstRound: Date.now() }, order, 'ALLOW_DUPLICATE')
  return isNew ? id : undefined
}

function idOf(lane: LaneId, unique: readonly string[] | undefined): string {
  const bytes = unique === undefined ? randomBytes(8) : createHash('sha256').update(JSON.stringify(unique)).digest()
  return `${operatorTransactionPrefix}${lane}:${bytes.toString('hex', 0, 8)}`
}

async function start(
  client: TemporalClient,
  workflowId: string,
  about: Omit<OperatorTransactionInput, keyof Order>,
  order: Order,
  workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE',
): Promise<boolean> {
  const { lane } = about
  const input: OperatorTransactionInput = { ...about, ...checkedOrder(order) }
  const options = { workflowId, args: [input], staticSummary: summaryText(`${lane}: ${input.reason}`), workflowIdReusePolicy }
  return startUnlessTaken(client, 'operatorTransaction', options).catch(rethrowAs({}, { lane }))
}

export function operatorTransactionResult(client: TemporalClient, id: string): Promise<OperatorTransactionStatus> {
  return (client.workflow.getHandle(id).result() as Promise<OperatorTransactionStatus>).catch(unknownOr(id))
}

const pollMs = 2_000

export async function followOperatorTransaction(
  client: TemporalClient,
  id: string,
  report: (why: string) => void,
): Promise<OperatorTransactionStatus> {
  const handle = client.workflow.getHandle(id)
  for (let last: string | undefined; ; await pause(pollMs)) {
    const { status } = await within(client, recordMs, () => handle.describe()).catch(unknownOr(id))
    if (status.name !== 'RUNNING') return operatorTransactionResult(client, id)
    const asked = within(client, queryMs, () => handle.query(operatorTransactionStatusQuery))
    const why = await asked.then(
      ({ state, detail }) => `${state}: ${detail}`,
      () => 'no process with the role ledger answers',
    )
    if (why !== last) report(why)
    last = why
  }
}

/** Throws INPUT_INVALID for an unknown or closed transaction, and TEMPORAL_UNAVAILABLE. */
export async function cancelOperatorTransaction(client: TemporalClient, id: string, order: Order): Promise<void> {
  if (!id.startsWith(operatorTransactionPrefix))
    throw refusal(id, 'The id of an operator transaction begins with operator-transaction: (portage lane transactions <lane>).')
  const handle = client.workflow.getHandle(id)
  const { status } = await handle.describe().catch(unknownOr(id))
  if (status.name !== 'RUNNING') throw refusal(id, 'This operator transaction is closed already.')
  await handle.signal(cancelOperatorTransactionSignal, { order: checkedOrder(order) }).catch(unknownOr(id))
}

/** Records the hash of a signed transaction before the transaction is sent. Throws TEMPORAL_UNAVAILABLE. */
export async function recordSigned(client: TemporalClient, intentId: string, signed: SignedHash & { nonce: number }): Promise<void> {
  const id = workflowOf(intentId)
  const recorded = within(client, recordMs, () =>
    client.workflow.getHandle(id).signal(operatorTransactionSignedSignal, { intentId, ...signed }),
  )
  await recorded.catch(ifGone(undefined)).catch(rethrowAs({}, { id }))
}

function unknownOr(id: string): (error: unknown) => never {
  return (error) => {
    if (isGone(error)) throw refusal(id, 'There is no such operator transaction (portage lane transactions <lane>).')
    throw fromTemporal(error, {}, { id })
  }
}

function refusal(id: string, detail: string): RelayerError {
  return new RelayerError('INPUT_INVALID', { detail, facts: { id } })
}
