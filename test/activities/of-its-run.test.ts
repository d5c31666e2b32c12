import { expect, test } from 'vitest'
import { createAdmit, createValidate } from '../../activities/transfer/admit.ts'
import type { Refuse } from '../../activities/transfer/confirm-end.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { mostMessageBytes } from '../../domain/transfer/transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { Admission, AdmitInput, Passed } from '../../temporal/contracts/transfer-steps.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { bridgesWith, fakeEndpoint } from './fake-bridge.ts'
import { inItsRun } from './its-run.ts'

const transfer = nativeTransfer(7)
const declined = { kind: 'declined', code: 'PAYLOAD_KIND', reason: 'no route' } as const
const refuse: Refuse = async (_, answer) => answer

test.each<[string, (...of: Parameters<typeof createAdmit>) => (input: AdmitInput) => Promise<Admission | Passed>]>([
  ['admit', createAdmit],
  ['validate', createValidate],
])("%s rejects a transfer in a run with another transfer's id, so that the other transfer can start", async (_, create) => {
  const one = new Map([['bsc', {}]])
  const bridges = bridgesWith(fakeEndpoint({ validate: async () => declined }))
  const step = create({ bridges, chains: one, lanes: one, settings: () => noSettings } as never, refuse)
  const run = (workflowId: string, message = transfer.message) =>
    inItsRun(step, () => ({ workflowExecution: { workflowId, runId: '1' } }))({ transfer: { ...transfer, message } })
  expect(await run(transferId(transfer))).toMatchObject(declined)
  const rejected = { kind: 'rejected', code: 'MESSAGE_MISMATCH' }
  expect(await run(transferId(nativeTransfer(8)))).toMatchObject(rejected)
  const most = Buffer.alloc(mostMessageBytes).toString('base64')
  expect(await run(transferId(transfer), most)).toMatchObject(declined)
  expect(await run(transferId(transfer), Buffer.alloc(mostMessageBytes + 1).toString('base64'))).toMatchObject(rejected)
})
