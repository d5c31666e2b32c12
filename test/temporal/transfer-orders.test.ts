import { setImmediate } from 'node:timers/promises'
import { status } from '@grpc/grpc-js'
import { ServiceError } from '@temporalio/client'
import { expect, test } from 'vitest'
import { orderTransfers } from '../../temporal/client/transfers/transfer-orders.ts'
import type { TransferRow } from '../../temporal/client/transfers/transfer-list.ts'
import { handlesClient } from '../helpers/handles-client.ts'

const order = { by: 'night-shift', reason: 'a test' }
const rows = Array.from({ length: 100 }, (_, index): TransferRow => ({ id: `t${index}`, execution: 'RUNNING', startedAt: '' }))

test('an order to many transfers that is reported as failed reaches no further transfer', async () => {
  const away = new ServiceError('Failed', {
    cause: Object.assign(new Error('away'), { code: status.UNAVAILABLE, details: 'away', metadata: {} }),
  })
  const reached: string[] = []
  const client = handlesClient((id) => ({
    async signal() {
      reached.push(id)
      if (id === 't3') throw away
    },
  }))
  await expect(orderTransfers(client, rows, 'cancel', order)).rejects.toMatchObject({ code: 'TEMPORAL_UNAVAILABLE' })
  const before = reached.length
  await setImmediate()
  expect(reached).toHaveLength(before)
  expect(before).toBeLessThan(rows.length / 2)
})
