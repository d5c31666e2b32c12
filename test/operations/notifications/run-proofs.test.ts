import { status } from '@grpc/grpc-js'
import { ServiceError } from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import { describe, expect, test } from 'vitest'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { proofsOf } from '../../../operations/notifications/events.ts'
import type { NotifiedTransfer } from '../../../temporal/client/settings/notified-transfers.ts'
import { searchAttributes } from '../../../temporal/contracts/names.ts'
import { reversalId } from '../../../temporal/contracts/reversal.ts'
import { handlesClient, type FakeHandle } from '../../helpers/handles-client.ts'

function grpc(code: number): ServiceError {
  return new ServiceError('Failed', { cause: Object.assign(new Error('a detail'), { code, details: 'a detail', metadata: {} }) })
}
const throws = (error: Error) => async () => {
  throw error
}
const runOf = (name: string, state: string): FakeHandle => ({
  describe: async () => ({
    ...{ type: 'transfer', runId: 'a run', status: { name } },
    typedSearchAttributes: new TypedSearchAttributes([{ key: searchAttributes.TransferState, value: state }]),
  }),
})
const listed = (id: string, kind: NotifiedTransfer['kind'] = 'delivered'): NotifiedTransfer => ({
  ...{ kind, id, runId: 'a run', closedAt: 1, at: Date.now() },
})

/** The answers of a Temporal that was restored from a copy older than its visibility store. */
const runs: Readonly<Record<string, FakeHandle>> = {
  corrupt: { describe: throws(grpc(status.INTERNAL)) },
  undecodable: { describe: throws(new Error('no such payload')) },
  running: runOf('RUNNING', 'sending'),
  foreign: runOf('COMPLETED', 'rejected'),
  // The memo is not encrypted, so the codec refuses the run.
  unsealed: { describe: throws(new RelayerError('ENCRYPTION_MISSING', {})) },
  away: { describe: throws(grpc(status.UNAVAILABLE)) },
  denied: { describe: throws(grpc(status.PERMISSION_DENIED)) },
  [reversalId({ transfer: 'corrupt-record', run: 'a run' })]: { describe: throws(grpc(status.INTERNAL)) },
}
const client = handlesClient((id) => runs[id] ?? {})
const proofs = (...all: readonly NotifiedTransfer[]) => proofsOf(client, all, true)

describe('runs that a list shows and that cannot be read', () => {
  test('an unreadable run is notified by the word of the list, and holds up no other', async () => {
    for (const name of ['corrupt', 'undecodable', 'gone', 'running'])
      expect(await proofs(listed('foreign'), listed(name), listed('unsealed'))).toEqual([undefined, 'temporal', undefined])
    // The record of the first reversal is gone. The record of the second cannot be read.
    expect(await proofs(listed('gone', 'reversed'), listed('corrupt-record', 'reversed'))).toEqual(['temporal', 'temporal'])
  })

  test('runs wait if no run can be read', async () => {
    for (const name of ['away', 'denied']) await expect(proofs(listed('gone'), listed(name))).rejects.toThrow('Failed')
  })
})
