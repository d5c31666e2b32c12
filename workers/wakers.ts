import type { ChainName } from '../domain/transfer.ts'
import { storedTransfer } from '../intake/restart-transfer.ts'
import { retrySignal } from '../temporal/messages.ts'
import { searchAttributes } from '../temporal/names.ts'
import type { Wakers } from './gate-keeper.ts'
import type { Client } from '@temporalio/client'
import { WorkflowNotFoundError } from '@temporalio/client'

/** Found by one query of the server's visibility, and one read of its history per transfer; woken by the signal `retry`. */
export function createWakers(client: Client, chain: ChainName): Wakers {
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
