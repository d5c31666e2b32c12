import { expect, test } from 'vitest'
import { orderOf } from '../../../operations/orders/orders.ts'
import { filterFields } from '../../../operations/orders/transfer-filter.ts'

const address = `0x${'52'.repeat(20)}`
const config = {
  chains: {
    bsc: { family: 'evm', networkId: 56, coin: 'BNB', signing: { topUps: true }, treasury: { address }, lanes: [{ address }] },
    ethereum: { family: 'evm', networkId: 1, signing: { topUps: true }, lanes: [] },
  },
}
const given = { to: address, data: '0x', value: { wei: '1' }, keep: { wei: '1' }, from: `evm-1338:${address}`, amount: { wei: '1' } }

function order(name: 'lane send' | 'lane sweep' | 'lane top-up' | 'lane resync', lane: string, chain?: string) {
  const started: string[] = []
  const start = (_: unknown, { workflowId }: { workflowId: string }) => started.push(workflowId)
  const context = { config, chain, client: { workflow: { start } }, allow: () => ({ by: 'dora', reason: 'a test' }) }
  return { result: orderOf(name).run?.(context as never, lane, given as never), started }
}

test.each([
  ['lane send', `evm-1338:${address}`],
  ['lane sweep', `evm-1338:${address}`],
  ['lane top-up', `evm-56:${address}`],
] as const)('%s for a lane outside the config starts no workflow, because it would never end', async (name, lane) => {
  const { result, started } = order(name, lane)
  await expect(result).rejects.toMatchObject({ code: 'LANE_NOT_FOUND' })
  expect(started).toEqual([])
})

test("an order that names a lane's id and a chain must name the lane's own chain", async () => {
  await expect(order('lane resync', `evm-56:${address}`, 'ethereum').result).rejects.toMatchObject({ code: 'LANE_NOT_FOUND' })
  await expect(order('lane resync', `evm-56:${address}`, 'toString').result).rejects.toMatchObject({ code: 'INPUT_INVALID' })
})

test.each([null, false, '', [], ' ', '0x1', -1, 1.5, '99999999999999999999'])('a filter with the nonce %j is refused', (nonce) => {
  expect(filterFields.nonce.schema.safeParse(nonce).success).toBe(false)
})

test('the nonce of a filter may be a number, and its digits in a query', () => {
  expect([7, '7', '0'].map((nonce) => filterFields.nonce.schema.parse(nonce))).toEqual([7, 7, 0])
})
