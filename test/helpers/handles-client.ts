import { Client, Connection } from '@temporalio/client'
import { WorkflowNotFoundError } from '@temporalio/common'

/** The answers of one workflow. A call without an answer throws as if the workflow did not exist. */
export interface FakeHandle {
  readonly describe?: () => Promise<unknown>
  readonly query?: () => Promise<unknown>
  readonly result?: () => Promise<unknown>
  readonly terminate?: () => Promise<unknown>
  readonly signal?: () => Promise<unknown>
}

/** A Temporal client that connects to no server. `handleOf` gives the answers of each workflow. */
export function handlesClient(handleOf: (id: string) => FakeHandle): Client {
  const client = new Client({ connection: Connection.lazy() })
  const getHandle = (id: string) => {
    const gone = async () => {
      throw new WorkflowNotFoundError('not found', id, undefined)
    }
    return { describe: gone, query: gone, result: gone, terminate: gone, signal: gone, ...handleOf(id) }
  }
  Object.defineProperty(client.workflow, 'getHandle', { value: getHandle })
  return client
}
