import { Client, Connection, type WorkflowExecutionInfo } from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import { expect, test } from 'vitest'
import { listParked } from '../../temporal/client/settings/notified-transfers.ts'
import { createTransferWatch } from '../../temporal/client/transfers/transfer-changes.ts'
import { running } from '../../temporal/client/transfers/transfer-queries.ts'
import { searchAttributes } from '../../temporal/contracts/names.ts'
import { unused } from '../helpers/unused.ts'

const isRunning = { code: 1, name: 'RUNNING' } as unknown as WorkflowExecutionInfo['status']
const count = 20

/** Each listed row reads `status` once, so the reads count the rows. */
function listing() {
  const client = new Client({ connection: Connection.lazy() })
  let rows = 0
  const run = (index: number): WorkflowExecutionInfo => ({
    ...{ type: 'transfer', workflowId: `native-bridge:2:ee:${index}:${'ab'.repeat(8)}`, runId: `run ${index}`, taskQueue: 'chain:bsc' },
    ...{ historyLength: 3, startTime: new Date(0), searchAttributes: {}, raw: {} },
    typedSearchAttributes: new TypedSearchAttributes([
      { key: searchAttributes.TransferState, value: 'parked' },
      { key: searchAttributes.Bridge, value: 'native-bridge' },
      { key: searchAttributes.TargetChain, value: 'bsc' },
    ]),
    get status() {
      rows += 1
      return isRunning
    },
  })
  client.workflow.list = ({ query } = {}) => {
    const runs = (async function* () {
      for (let index = 0; index < count && query?.includes(running); index++) yield run(index)
    })()
    return Object.assign(runs, { intoHistories: unused('intoHistories') })
  }
  return { client, rows: () => rows }
}

test('a list of parked transfers makes one row of each run, and ends at its limit', async () => {
  const { client, rows } = listing()
  expect(await listParked(client, { events: [] }, 1_000)).toHaveLength(count)
  expect(rows()).toBe(count)
  expect(await listParked(client, { events: [] }, 5)).toHaveLength(5)
})

test('a reading of the open transfers makes one row of each run', async () => {
  const { client, rows } = listing()
  expect(await createTransferWatch(client).look()).toEqual({ changed: [], isCut: false })
  expect(rows()).toBe(count)
})
