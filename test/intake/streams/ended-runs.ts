import { Client, Connection } from '@temporalio/client'
import { WorkflowNotFoundError } from '@temporalio/common'
import type { Order } from '../../../domain/order.ts'
import { transferIdParts } from '../../../temporal/contracts/names.ts'

export interface EndedRun {
  readonly state: 'delivered' | 'declined' | 'cancelled'
  readonly reason?: string
  readonly cancelledBy?: Order
}

/** A Temporal client that finds only these completed runs. `ended`: runs by the numbers of their transfers. */
export function temporalWith(ended: ReadonlyMap<string, EndedRun>): Client {
  const client = new Client({ connection: Connection.lazy() })
  const getHandle = (id: string) => {
    const run = ended.get(transferIdParts(id)?.sequence ?? '')
    const describe = async () => {
      if (!run) throw new WorkflowNotFoundError('not found', id, undefined)
      return { status: { name: 'COMPLETED' }, typedSearchAttributes: { get: () => run.state } }
    }
    return { describe, result: async () => run }
  }
  Object.defineProperty(client.workflow, 'getHandle', { value: getHandle })
  return client
}
