import type { WorkflowExecutionInfo } from '@temporalio/client'
import { type ErrorCode, toRelayerError } from '../../../domain/catalogue/errors.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { chainQueue, searchAttributes, transferId, transferIdParts } from '../../contracts/names.ts'
import { type Reversal, reversalId } from '../../contracts/reversal.ts'
import type { TransferStatus } from '../../contracts/transfer.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { ifGone, isForAll } from '../connection/errors.ts'
import { type ClosedTransfer, readClosedRun } from './closed-runs.ts'
import type { TransferRow } from './transfer-list.ts'

/** True if id, bridge and queue match. This proves nothing: anyone with access to Temporal can copy them. */
export function isPlausibleTransfer({ workflowId, taskQueue, typedSearchAttributes: attributes }: WorkflowExecutionInfo): boolean {
  const [bridge, target] = [attributes.get(searchAttributes.Bridge), attributes.get(searchAttributes.TargetChain)]
  const parts = transferIdParts(workflowId)
  return parts !== undefined && parts.bridge === bridge && target !== undefined && taskQueue === chainQueue(target)
}

/**
 * `same`: the run confirms the list. `unread`: the run is unreadable or gone. `foreign`: the run contradicts the list,
 * or is not encrypted.
 */
export type RunProof = 'same' | 'unread' | 'foreign'

const proofTimeoutMs = 10_000
/** Servers keep closed runs for days, so a reversed run must still exist this long after its reversal was recorded. */
const keptMs = 3_600_000

/** Compares a listed event with the run itself. Throws the errors of `fromTemporal`. */
export async function proofOf(
  client: TemporalClient,
  listed: Pick<TransferRow, 'id' | 'txHash'> & {
    readonly kind: 'delivered' | 'reversed' | 'parked'
    readonly runId: string
    readonly at: number
  },
): Promise<RunProof> {
  const { kind, id, runId: run } = listed
  if (kind === 'parked') return 'unread'
  const record = kind === 'reversed' ? await recordProof(client, { transfer: id, run }) : 'same'
  if (record !== 'same') return record
  const described = await within(client, proofTimeoutMs, () => client.workflow.getHandle(id, run).describe()).catch(ifGone(undefined))
  // The server may have deleted the run, unless the record of a reversal is young.
  if (!described) return kind === 'reversed' && Date.now() - listed.at < keptMs ? 'foreign' : 'unread'
  const { type, status, typedSearchAttributes: attributes } = described
  // After a restore of Temporal, lists may be newer than runs, so an open run proves nothing.
  if (kind === 'delivered' && type === 'transfer' && status.name === 'RUNNING') return 'unread'
  const isDelivered = type === 'transfer' && status.name === 'COMPLETED' && attributes.get(searchAttributes.TransferState) === 'delivered'
  if (!isDelivered || attributes.get(searchAttributes.TxHash) !== listed.txHash) return 'foreign'
  return proofIn(await readClosedRun(client, { workflowId: id, runId: run, execution: 'COMPLETED' }), (ended) => {
    const { state } = Object(ended.result) as Partial<TransferStatus>
    const { digest, ...transfer } = Object(ended.transfer) as Partial<Transfer>
    return state === 'delivered' && typeof digest === 'string' && transferId({ ...(transfer as Transfer), digest }) === id
  })
}

async function recordProof(client: TemporalClient, { transfer, run }: Reversal): Promise<RunProof> {
  const workflowId = reversalId({ transfer, run })
  const described = await within(client, proofTimeoutMs, () => client.workflow.getHandle(workflowId).describe()).catch(ifGone(undefined))
  if (!described) return 'unread'
  return proofIn(await readClosedRun(client, { workflowId, runId: described.runId, execution: 'COMPLETED' }), ({ result }) => {
    const said = Object(result) as Partial<Reversal>
    return said.transfer === transfer && said.run === run
  })
}

function proofIn(ended: ClosedTransfer | undefined, isAsListed: (ended: ClosedTransfer) => boolean): RunProof {
  if (!ended) return 'unread'
  if (ended.unreadable) return isOfNoKey(ended.unreadable) ? 'foreign' : 'unread'
  return isAsListed(ended) ? 'same' : 'foreign'
}

function isOfNoKey(code: ErrorCode): boolean {
  return code === 'ENCRYPTION_MISSING' || code === 'ENCRYPTION_BROKEN'
}

export function proofDespite(error: unknown): RunProof {
  if (isForAll(error)) throw error
  return isOfNoKey(toRelayerError(error).code) ? 'foreign' : 'unread'
}
