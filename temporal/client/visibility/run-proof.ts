import { type ErrorCode, toRelayerError } from '../../../domain/catalogue/errors.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { searchAttributes, transferId } from '../../contracts/names.ts'
import { type Reversal, reversalId } from '../../contracts/reversal.ts'
import type { TransferStatus } from '../../contracts/transfer.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { type ClosedTransfer, readClosedRun } from '../transfers/closed-runs.ts'
import { ifGone, isForAll } from '../connection/errors.ts'
import type { NotifiedTransfer } from '../settings/notified-transfers.ts'

/** `same`: as listed. `unread`: unreadable or gone. `foreign`: different, or lacks a required encryption by Portage. */
export type RunProof = 'same' | 'unread' | 'foreign'

const timeoutMs = 10_000
/** ms. The server keeps closed runs for days, so a record's run exists this long after it. */
const keptMs = 3_600_000

/** Two or three calls. Throws TEMPORAL_UNAVAILABLE and the like. */
export async function proofOf(
  client: TemporalClient,
  listed: Pick<NotifiedTransfer, 'kind' | 'id' | 'runId' | 'txHash' | 'at'>,
): Promise<RunProof> {
  const { kind, id, runId: run } = listed
  if (kind === 'parked') return 'unread'
  const record = kind === 'reversed' ? await recordProof(client, { transfer: id, run }) : 'same'
  if (record !== 'same') return record
  const described = await within(client, timeoutMs, () => client.workflow.getHandle(id, run).describe()).catch(ifGone(undefined))
  // A late receiver may get a reversal whose run is deleted by now.
  if (!described) return kind === 'reversed' && Date.now() - listed.at < keptMs ? 'foreign' : 'unread'
  const { type, status, typedSearchAttributes } = described
  // The server was restored from an older copy than the list.
  if (kind === 'delivered' && type === 'transfer' && status.name === 'RUNNING') return 'unread'
  const isDelivered =
    type === 'transfer' && status.name === 'COMPLETED' && typedSearchAttributes.get(searchAttributes.TransferState) === 'delivered'
  if (!isDelivered || typedSearchAttributes.get(searchAttributes.TxHash) !== listed.txHash) return 'foreign'
  return proofIn(await readClosedRun(client, { workflowId: id, runId: run, execution: 'COMPLETED' }), (ended) => {
    const { state } = Object(ended.result) as Partial<TransferStatus>
    const { digest, ...transfer } = Object(ended.transfer) as Partial<Transfer>
    return state === 'delivered' && typeof digest === 'string' && transferId({ ...(transfer as Transfer), digest }) === id
  })
}

/** The result of a record equals its input. */
async function recordProof(client: TemporalClient, { transfer, run }: Reversal): Promise<RunProof> {
  const workflowId = reversalId({ transfer, run })
  const described = await within(client, timeoutMs, () => client.workflow.getHandle(workflowId).describe()).catch(ifGone(undefined))
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

/** Nobody without a key can write a readable payload. */
function isOfNoKey(code: ErrorCode): boolean {
  return code === 'ENCRYPTION_MISSING' || code === 'ENCRYPTION_BROKEN'
}

/** For `catch`, one of many runs: throws only server errors that concern all. */
export function proofDespite(error: unknown): RunProof {
  if (isForAll(error)) throw error
  return isOfNoKey(toRelayerError(error).code) ? 'foreign' : 'unread'
}
