import type { BridgeName, ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import { searchAttributes } from '../contracts/names.ts'
import { retrySignal } from '../contracts/transfer.ts'
import type { TemporalClient } from './client.ts'
import { isGone } from './errors.ts'
import { storedTransfer } from './start-transfer.ts'

/** Wakes a transfer that waits for a gate. False: it has ended. Throws what the Temporal client throws. */
export async function wakeTransfer(client: TemporalClient, id: string): Promise<boolean> {
  try {
    await client.workflow.getHandle(id).signal(retrySignal, { gate: true })
    return true
  } catch (error) {
    if (isGone(error)) return false
    throw error
  }
}

/**
 * The transfers of a bridge to a chain that wait for anything: one query of the server's visibility store, and one read of its history per transfer. Throws
 * what the Temporal client throws.
 */
export async function* listWaitingTransfers(client: TemporalClient, chain: ChainName, bridge: BridgeName): AsyncGenerator<Transfer> {
  const { Bridge, TargetChain, TransferState } = searchAttributes
  const query = [
    `WorkflowType = 'transfer' AND ExecutionStatus = 'Running' AND ${TransferState.name} = 'waiting'`,
    `${Bridge.name} = '${bridge}' AND ${TargetChain.name} = '${chain}'`,
  ].join(' AND ')
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    // One that has ended meanwhile waits for nothing.
    const transfer = await storedTransfer(client, workflowId, runId).catch(() => undefined)
    if (transfer) yield transfer
  }
}
