import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { expect, test } from 'vitest'
import { ofItsRun } from '../../activities/transfer/of-its-run.ts'
import { mostMessageBytes } from '../../domain/transfer/transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'

const transfer = nativeTransfer(7)

function run(workflowId: string, message = transfer.message) {
  const environment = new MockActivityEnvironment({ workflowExecution: { workflowId, runId: '1' } }, { logger: new DefaultLogger('ERROR') })
  const step = ofItsRun(async () => ({ kind: 'declined' as const }))
  return environment.run(step, { transfer: { ...transfer, message } })
}

test('a transfer under the id of another one is rejected, so that the other one takes its place', async () => {
  expect(await run(transferId(transfer))).toEqual({ kind: 'declined' })
  const rejected = { kind: 'rejected', code: 'MESSAGE_MISMATCH' }
  expect(await run(transferId(nativeTransfer(8)))).toMatchObject(rejected)
  const most = Buffer.alloc(mostMessageBytes).toString('base64')
  expect(await run(transferId(transfer), most)).toEqual({ kind: 'declined' })
  expect(await run(transferId(transfer), Buffer.alloc(mostMessageBytes + 1).toString('base64'))).toMatchObject(rejected)
})
