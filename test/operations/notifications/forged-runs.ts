import { randomUUID } from 'node:crypto'
import type { Client } from '@temporalio/client'
import { ledgerQueue, searchAttributes } from '../../../temporal/contracts/names.ts'
import { reversalId } from '../../../temporal/contracts/reversal.ts'
import { expect } from 'vitest'
import { until } from '../../../lab/devnet/until.ts'
import { createTransferWatch } from '../../../temporal/client/transfers/transfer-changes.ts'
import { forgeRun } from '../../helpers/hostile-temporal.ts'
import type { TestReceiver } from './receiver.ts'
import { type NotificationSetting, receiverAt } from './setting.ts'

const attributes = { TransferState: 'delivered', Bridge: 'wormhole-token-bridge', SourceChain: 'ethereum', TxHash: '0xf0' } as const
const idOf = (sequence: string) => `wormhole-token-bridge:2:${'ee'.repeat(32)}:${sequence}:${'ab'.repeat(8)}`

/**
 * Forges runs that deliver and runs that record reversals.
 * @param delivered id of a delivered transfer
 * @param parked id of a parked transfer
 * @returns ids of the two forged deliveries whose id or queue no run of Portage has
 */
async function forgeRuns(client: Client, delivered: string, parked: string): Promise<readonly string[]> {
  const forge = (id: string, queue: string, target: string, input: unknown = {}) =>
    forgeRun(client, { type: 'transfer', id, queue, input, result: { id, state: 'delivered' } }, { ...attributes, TargetChain: target })
  // A run with a foreign id, a run on the queue of another chain, and a run whose message has another id.
  const junk = ['x:2:junk', idOf('1')] as const
  await forge(junk[0], 'chain:forged-1', 'forged-1')
  await forge(junk[1], 'chain:forged-2', 'bsc')
  const message = { bridge: 'wormhole-token-bridge', sourceChain: 'ethereum', digest: `0x${'cd'.repeat(32)}`, sequence: '1' }
  await forge(idOf('2'), 'chain:forged-3', 'forged-3', { transfer: message })
  // A reversal of a run that never existed, and a reversal of a run that delivered nothing.
  const reverse = (transfer: string, run: string) =>
    client.workflow.execute('reversal', {
      ...{ workflowId: reversalId({ transfer, run }), taskQueue: ledgerQueue, args: [{ transfer, run }] },
      typedSearchAttributes: [{ key: searchAttributes.TxHash, value: attributes.TxHash }],
    })
  await reverse(delivered, randomUUID())
  await reverse(parked, (await client.workflow.getHandle(parked).describe()).runId)
  // Terminate the parked transfer, because the receiver would be notified of it.
  await client.workflow.getHandle(parked).terminate('a test')
  return junk
}

/** @param ends gets the functions that end the notifiers of this check */
export async function expectForgedUntold(
  on: NotificationSetting,
  ends: (() => Promise<unknown>)[],
  { receiver: books, name, next }: { readonly receiver: TestReceiver; readonly name: string; readonly next: () => string },
): Promise<void> {
  ends.push(await on.serve([receiverAt(name, books.url, { events: ['transfer.delivered'] })]))
  const { client } = on.ledgers.temporal
  const told = () => books.received.map(({ data }) => data['transfer'])
  const tells = (what: string, isSo: () => boolean) => until(isSo, { timeoutMs: 60_000, what })
  const watch = createTransferWatch(client)
  await watch.look()
  // A notifier reports only runs that end after the notifier's start.
  const good: string[] = []
  await until(
    async () => {
      good.push(await on.transfer(next()))
      return told().length > 0
    },
    { timeoutMs: 60_000, everyMs: 500, what: 'a delivery to be notified' },
  )
  expect(books.received[0]?.data['proof']).toBe('temporal')
  const delivered = good.at(-1)!
  const unseen = await forgeRuns(client, delivered, await on.transfer(next(), { parks: true }))
  // A later notification shows that the notifier has read the forged runs, and that they did not stop it.
  const last = await on.transfer(next())
  await tells('the last delivery to be notified', () => told().includes(last))
  const refused = () => on.logged.filter((line) => line.includes('RUN_FOREIGN'))
  await tells('the forged ones to be refused', () => refused().length >= 3)
  expect(told().filter((id) => id !== last && !good.includes(String(id)))).toEqual([])
  expect(books.received.filter(({ type }) => type !== 'transfer.delivered')).toEqual([])
  const changed = (await watch.look()).changed.map(({ id }) => id)
  expect([changed.filter((id) => unseen.includes(id)), changed.includes(last)]).toEqual([[], true])
}
