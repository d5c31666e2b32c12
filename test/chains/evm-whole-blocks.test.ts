import { expect, test } from 'vitest'
import { createReceipts } from '../../chains/evm/transactions/receipts.ts'
import { RpcError } from '../../chains/evm/nodes/node-errors.ts'
import type { Nodes } from '../../chains/evm/nodes/nodes.ts'
import { codeOfAsync } from '../helpers/refusals.ts'

test('a node without receipts of whole blocks is not asked for them for a while, and then again', async () => {
  const asked: string[] = []
  const request = async (method: string) => {
    asked.push(method)
    if (method === 'eth_getBlockReceipts') throw new RpcError('a node', method, { code: -32_601, message: 'not served' })
    return undefined
  }
  const receipts = createReceipts({ request, readers: 3, needed: 2 } as unknown as Nodes, async () => {
    throw new Error('not asked')
  })
  const hashes = ['0x1', '0x2', '0x3', '0x4']
  const whole = async (height: number) => {
    asked.length = 0
    await receipts.ofBlock({ height, hash: '0xaa' }, hashes, 4)
    return asked.includes('eth_getBlockReceipts')
  }
  expect([await whole(10), await whole(11), await whole(1_010), await whole(1_011)]).toEqual([true, false, false, true])
})

test('only null means that a node lacks the block: a missing result is malformed', async () => {
  const whole = (result: unknown) => {
    const request = async (_method: string, _params: unknown, read: (value: unknown) => unknown) => read(result)
    const receipts = createReceipts({ request } as unknown as Nodes, async () => {
      throw new Error('not asked')
    })
    return receipts.ofBlock({ height: 10, hash: '0xaa' }, ['0x1', '0x2', '0x3', '0x4'], 4)
  }
  expect(await whole(null)).toEqual([])
  expect(await codeOfAsync(() => whole(undefined))).toBe('NODE_REFUSED')
})
