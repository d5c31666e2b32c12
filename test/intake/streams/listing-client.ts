import { Client, Connection, type WorkflowExecutionInfo } from '@temporalio/client'
import { defaultPayloadConverter, TypedSearchAttributes } from '@temporalio/common'
import type { TransferState } from '../../../domain/transfer/transfer.ts'
import { searchAttributes } from '../../../temporal/contracts/names.ts'
import { unused } from '../../helpers/unused.ts'

/** A transfer's run, also a stranger's. */
export interface ListedRun {
  readonly id: string
  readonly state: TransferState
  readonly ended?: boolean
  /** Its input. */
  readonly input: () => unknown
  readonly result?: unknown
}

/**
 * A client whose server has these runs and lists them in this order; it counts lists, and the inputs that it is asked
 * for, by id. It connects to none.
 */
export function listingClient(runs: readonly ListedRun[]) {
  const client = new Client({ connection: Connection.lazy() })
  const read: string[] = []
  const lists = { count: 0 }
  const info = ({ id, state, ended }: ListedRun, index: number): WorkflowExecutionInfo => ({
    ...{ type: 'transfer', workflowId: id, runId: String(index), taskQueue: 'nobody', historyLength: 3, startTime: new Date(0) },
    // The enum itself is in a package that is no dependency.
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
    status: ended ? { code: 2, name: 'COMPLETED' } : { code: 1, name: 'RUNNING' },
    searchAttributes: {},
    typedSearchAttributes: new TypedSearchAttributes([{ key: searchAttributes.TransferState, value: state }]),
    raw: {},
  })
  client.workflow.list = ({ query = '' } = {}) => {
    lists.count++
    const isEnded = query.includes("'Completed'")
    const listed = (async function* () {
      if (!query.includes("'parked'")) yield* runs.map(info).filter(({ status }) => (status.name === 'COMPLETED') === isEnded)
    })()
    return Object.assign(listed, { intoHistories: unused('intoHistories') })
  }
  const getWorkflowExecutionHistory = async ({ execution }: { execution: { runId: string } }) => {
    const run = runs[Number(execution.runId)]
    if (!run) throw new Error('no such run')
    read.push(run.id)
    const payloads = [defaultPayloadConverter.toPayload(run.input())]
    return { history: { events: [{ workflowExecutionStartedEventAttributes: { input: { payloads } } }] } }
  }
  Object.defineProperty(client, 'workflowService', { value: { getWorkflowExecutionHistory } })
  const resultOf = (id: string) => async () => runs.find((run) => run.id === id)?.result
  Object.defineProperty(client.workflow, 'getHandle', { value: (id: string) => ({ result: resultOf(id) }) })
  return { client, read, lists }
}
