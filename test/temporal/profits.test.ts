import { expect, test } from 'vitest'
import { withProfits } from '../../temporal/client/transfers/transfers.ts'
import type { TransferRow } from '../../temporal/client/transfers/transfer-list.ts'

/**
 * A client whose transfers each cost 20 wei, carried 5 wei and were paid 100 wei. The transfer `gone` cannot be read.
 */
function setting() {
  const read: string[] = []
  const getHandle = (id: string) => ({
    describe: async () => {
      read.push(id)
      if (id === 'gone') throw new Error('no answer')
      return { type: 'transfer', status: { name: 'COMPLETED' }, memo: { content: { worth: '100', coins: '5' } } }
    },
    result: async () => ({ transfer: { bridge: 'executor' }, state: 'delivered', delivery: { ours: true, gasPaid: '20' } }),
  })
  const client = { workflow: { getHandle }, withDeadline: (_: number, work: () => unknown) => work() }
  return { client: client as never, read }
}

test('only delivered paid requests are read for their profits, and one that cannot be read stays as it is', async () => {
  const { client, read } = setting()
  const row = (id: string, own: Partial<TransferRow>) => ({ id, execution: 'COMPLETED', startedAt: '', ...own })
  const rows = [
    row('paid', { state: 'delivered', worth: '100' }),
    row('free', { state: 'delivered' }),
    row('parked', { state: 'parked', worth: '100' }),
    row('gone', { state: 'delivered', worth: '100' }),
  ]
  expect(await withProfits(client, rows)).toEqual([{ ...rows[0], profit: '75' }, ...rows.slice(1)])
  expect(read).toEqual(['paid', 'gone'])
})
