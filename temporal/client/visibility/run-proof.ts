import { type ErrorCode, toRelayerError } from '../../../domain/catalogue/errors.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { searchAttributes, transferId } from '../../contracts/names.ts'
import { type Reversal, reversalId } from '../../contracts/reversal.ts'
import type { TransferStatus } from '../../contracts/transfer.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { type ClosedTransfer, readClosedRun } from '../transfers/closed-runs.ts'
import { ifGone, isForAll } from '../connection/errors.ts'
import type { NotifiedTransfer } from '../settings/notified-transfers.ts'

/**
 * What a run itself says of what a list shows of it. `same`: the same. `unread`: it cannot be read, or is gone.
 * `foreign`: something else, so that Portage has not written it; or, where encryption is required, no key of Portage
 * has.
 */
export type RunProof = 'same' | 'unread' | 'foreign'

const timeoutMs = 10_000
/**
 * The run that a reversal names was there when the record was made, and is for hours after it, ms: the server keeps
 * closed runs for days.
 */
const keptMs = 3_600_000

/**
 * Reads what a listed delivery, or reversal, rests on: two or three reads. Throws TEMPORAL_UNAVAILABLE and the like.
 */
export async function proofOf(
  client: TemporalClient,
  listed: Pick<NotifiedTransfer, 'kind' | 'id' | 'runId' | 'txHash' | 'at'>,
): Promise<RunProof> {
  const { kind, id, runId: run } = listed
  if (kind === 'parked') return 'unread'
  const record = kind === 'reversed' ? await recordProof(client, { transfer: id, run }) : 'same'
  if (record !== 'same') return record
  const described = await within(client, timeoutMs, () => client.workflow.getHandle(id, run).describe()).catch(ifGone(undefined))
  // A receiver that was away for long is told of a reversal whose run the server has forgotten meanwhile.
  if (!described) return kind === 'reversed' && Date.now() - listed.at < keptMs ? 'foreign' : 'unread'
  const { type, status, typedSearchAttributes } = described
  // It is listed as completed: the list is newer than what the server has, which was restored from an older copy.
  if (kind === 'delivered' && type === 'transfer' && status.name === 'RUNNING') return 'unread'
  const isDelivered =
    type === 'transfer' && status.name === 'COMPLETED' && typedSearchAttributes.get(searchAttributes.TransferState) === 'delivered'
  if (!isDelivered || typedSearchAttributes.get(searchAttributes.TxHash) !== listed.txHash) return 'foreign'
  const ended = await readClosedRun(client, { workflowId: id, runId: run, execution: 'COMPLETED' })
  return ended ? proofIn(ended, id) : 'unread'
}

/** The record ends with what it was started with. `unread`: it cannot be read, or is gone, though the list has it. */
async function recordProof(client: TemporalClient, { transfer, run }: Reversal): Promise<RunProof> {
  const workflowId = reversalId({ transfer, run })
  const described = await within(client, timeoutMs, () => client.workflow.getHandle(workflowId).describe()).catch(ifGone(undefined))
  if (!described) return 'unread'
  const { runId } = described
  const ended = await readClosedRun(client, { workflowId, runId, execution: 'COMPLETED' })
  if (!ended) return 'unread'
  if (ended.unreadable) return isRefused(ended) ? 'foreign' : 'unread'
  const said = Object(ended.result) as Partial<Reversal>
  return said.transfer === transfer && said.run === run ? 'same' : 'foreign'
}

function proofIn(ended: ClosedTransfer, id: string): RunProof {
  if (ended.unreadable) return isRefused(ended) ? 'foreign' : 'unread'
  const { state } = Object(ended.result) as Partial<TransferStatus>
  const { digest, ...transfer } = Object(ended.transfer) as Partial<Transfer>
  const isOfId = typeof digest === 'string' && transferId({ ...(transfer as Transfer), digest }) === id
  return state === 'delivered' && isOfId ? 'same' : 'foreign'
}

/** Without a key of Portage nobody can write what is read here. */
function isRefused({ unreadable }: ClosedTransfer): boolean {
  return unreadable !== undefined && isOfNoKey(unreadable)
}

function isOfNoKey(code: ErrorCode): boolean {
  return code === 'ENCRYPTION_MISSING' || code === 'ENCRYPTION_BROKEN'
}

/**
 * For `catch`, of one of many runs: what cannot be read of it is its own, and holds up no other. Throws what the server
 * says to all reads.
 */
export function proofDespite(error: unknown): RunProof {
  if (isForAll(error)) throw error
  return isOfNoKey(toRelayerError(error).code) ? 'foreign' : 'unread'
}
