import { randomUUID } from 'node:crypto'
import type { Client } from '@temporalio/client'
import { ledgerQueue, searchAttributes } from '../../temporal/contracts/names.ts'
import { reversalId } from '../../temporal/contracts/reversal.ts'
import { forgeRun } from '../helpers/hostile-temporal.ts'

const attributes = { TransferState: 'delivered', Bridge: 'wormhole-token-bridge', SourceChain: 'ethereum', TxHash: '0xf0' } as const
const idOf = (sequence: string) => `wormhole-token-bridge:2:${'ee'.repeat(32)}:${sequence}:${'ab'.repeat(8)}`

/**
 * Deliveries and reversals as somebody who reaches Temporal makes them up; those of the form of Portage's runs are three. Returns the ids of the two that are not.
 * @param delivered a transfer @param parked another, which is not delivered
 */
export async function forgeRuns(client: Client, delivered: string, parked: string): Promise<readonly string[]> {
  const forge = (id: string, queue: string, target: string, input: unknown = {}) =>
    forgeRun(client, { type: 'transfer', id, queue, input, result: { id, state: 'delivered' } }, { ...attributes, TargetChain: target })
  // An id of his own; a queue that is not that of the target; a message whose id is another.
  const junk = ['x:2:junk', idOf('1')] as const
  await forge(junk[0], 'chain:forged-1', 'forged-1')
  await forge(junk[1], 'chain:forged-2', 'bsc')
  const message = { bridge: 'wormhole-token-bridge', sourceChain: 'ethereum', digest: `0x${'cd'.repeat(32)}`, sequence: '1' }
  await forge(idOf('2'), 'chain:forged-3', 'forged-3', { transfer: message })
  // Of a run that never was, and of one that never delivered. They end by themselves, in the process that serves the ledgers.
  const reverse = (transfer: string, run: string) =>
    client.workflow.execute('reversal', {
      ...{ workflowId: reversalId({ transfer, run }), taskQueue: ledgerQueue, args: [{ transfer, run }] },
      typedSearchAttributes: [{ key: searchAttributes.TxHash, value: attributes.TxHash }],
    })
  await reverse(delivered, randomUUID())
  await reverse(parked, (await client.workflow.getHandle(parked).describe()).runId)
  // Else it would be told as one that is parked.
  await client.workflow.getHandle(parked).terminate('a test')
  return junk
}
