import type { ChainName } from '../domain/transfer/transfer.ts'
import { storedTransfer } from '../temporal/client/start-transfer.ts'
import { retrySignal } from '../temporal/contracts/transfer.ts'
import { searchAttributes } from '../temporal/contracts/names.ts'
import type { WaitingTransfers } from '../bridges/gates/gate-watcher.ts'
import type { Client } from '@temporalio/client'
import { WorkflowNotFoundError } from '@temporalio/client'

/** Found by one query of the server's visibility, and one read of its history per transfer; woken by the signal `retry`. */
export function createWaitingTransfers(client: Client, chain: ChainName): WaitingTransfers {
  const { Bridge, TargetChain, TransferState } = searchAttributes
  const open = `WorkflowType = 'transfer' AND ExecutionStatus = 'Running' AND ${TransferState.name} = 'waiting'`
  return {
    async wake(id) {
      try {
        await client.workflow.getHandle(id).signal(retrySignal, { gate: true })
        return true
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return false
        throw error
      }
    },
    async *waiting(bridge) {
      const query = `${open} AND ${Bridge.name} = '${bridge}' AND ${TargetChain.name} = '${chain}'`
      for await (const { workflowId, runId } of client.workflow.list({ query })) {
        // One that ended meanwhile waits for nothing.
        const transfer = await storedTransfer(client, workflowId, runId).catch(() => undefined)
        if (transfer) yield transfer
      }
    },
  }
}
