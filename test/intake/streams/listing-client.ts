import { Client, Connection, type WorkflowExecutionInfo } from '@temporalio/client'
import { defaultPayloadConverter, TypedSearchAttributes, WorkflowNotFoundError } from '@temporalio/common'
import type { TransferState } from '../../../domain/transfer/transfer.ts'
import { contentMemo } from '../../../temporal/client/transfers/transfer-list.ts'
import { searchAttributes } from '../../../temporal/contracts/names.ts'
import { unused } from '../../helpers/unused.ts'

/** A run of a transfer in Temporal. Portage or a stranger may have started it. */
export interface ListedRun {
  readonly id: string
  readonly state: TransferState
  readonly ended?: boolean
  /** If true, no list contains the run. */
  readonly terminated?: boolean
  readonly input: () => unknown
  /** The transfer's content in the memo. */
  readonly content?: unknown
  readonly result?: unknown
}

/** A client without a server. Lists have `runs`, in this order. */
export function listingClient(runs: readonly ListedRun[]) {
  const client = new Client({ connection: Connection.lazy() })
  const [read, queried]: [string[], string[]] = [[], []]
  const lists = { count: 0 }
  const info = ({ id, state, ended, terminated }: ListedRun, index: number): WorkflowExecutionInfo => ({
    ...{ type: 'transfer', workflowId: id, runId: String(index), taskQueue: 'nobody', historyLength: 3, startTime: new Date(0) },
    // The enum's package is not a dependency.
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
    status: terminated ? { code: 5, name: 'TERMINATED' } : ended ? { code: 2, name: 'COMPLETED' } : { code: 1, name: 'RUNNING' },
    searchAttributes: {},
    typedSearchAttributes: new TypedSearchAttributes([{ key: searchAttributes.TransferState, value: state }]),
    raw: {},
  })
  client.workflow.list = ({ query = '' } = {}) => {
    lists.count++
    const isEnded = query.includes("'Completed'")
    const listed = (async function* () {
      if (!query.includes("'parked'")) yield* runs.map(info).filter(({ status }) => status.name === (isEnded ? 'COMPLETED' : 'RUNNING'))
    })()
    return Object.assign(listed, { intoHistories: unused('intoHistories') })
  }
  const getWorkflowExecutionHistory = async ({ execution }: { execution: { runId: string } }) => {
    const run = runs[Number(execution.runId)]
    if (!run) throw new Error('no such run')
    read.push(run.id)
    const payloads = [defaultPayloadConverter.toPayload(run.input())]
    const memo = run.content === undefined ? {} : { fields: { [contentMemo]: defaultPayloadConverter.toPayload(run.content) } }
    return { history: { events: [{ workflowExecutionStartedEventAttributes: { input: { payloads }, memo } }] } }
  }
  Object.defineProperty(client, 'workflowService', { value: { getWorkflowExecutionHistory } })
  const getHandle = (id: string) => {
    const index = runs.findIndex((run) => run.id === id)
    const run = runs[index]
    const describe = async () => {
      if (!run) throw new WorkflowNotFoundError('not found', id, undefined)
      return info(run, index)
    }
    const query = async () => {
      queried.push(id)
      throw new Error('no worker answers')
    }
    return { result: async () => run?.result, describe, query }
  }
  Object.defineProperty(client.workflow, 'getHandle', { value: getHandle })
  return { client, read, queried, lists }
}
