import { expect, test } from 'vitest'
import { readReceipt } from '../../../chains/evm/transactions/receipts.ts'
import { assertKnownNames } from '../../../domain/settings/known-names.ts'
import { noSettings } from '../../../domain/settings/settings.ts'
import { orderOf } from '../../../operations/orders/orders.ts'

test.each(['__proto__', 'constructor', 'toString', 'valueOf'])(
  'a node of the chain %s, which is a property of JavaScript objects, is not found',
  async (chain) => {
    const client = { withDeadline: async () => noSettings }
    const context = { config: { bridges: {}, chains: {} }, client, allow: () => ({ by: 'dora', reason: 'a test' }) }
    await expect(orderOf('node remove').run?.(context as never, '', { chain, name: 'a' } as never)).rejects.toMatchObject({
      code: 'INPUT_INVALID',
    })
  },
)

test('an added node can be removed after its chain has left the config', async () => {
  const added = { ...noSettings, version: 1, nodes: [{ chain: 'former', name: 'spare', disabled: false, url: 'http://127.0.0.1:9' }] }
  const client = { withDeadline: async () => added }
  const context = { config: { bridges: {}, chains: {} }, client, allow: () => ({ by: 'dora', reason: 'a test' }) }
  const remove = (name: string) => orderOf('node remove').run?.(context as never, '', { chain: 'former', name } as never)
  await expect(remove('spare')).resolves.toMatchObject({ json: { version: 1 } })
  await expect(remove('other')).rejects.toMatchObject({ code: 'INPUT_INVALID' })
})

test('a token of a chain that no bridge has cannot be denied', () => {
  const deny = (chain: number) => [{ kind: 'deny', what: 'token', value: `${chain}/${'0'.repeat(64)}` } as const]
  const known = { bridges: [], nodes: {}, lanes: [], networkIds: [80_094] }
  expect(() => assertKnownNames(deny(70_000), known, noSettings)).toThrow('no bridge has a chain 70000')
  for (const chain of [2, 80_094]) expect(() => assertKnownNames(deny(chain), known, noSettings)).not.toThrow()
})

test('a receipt with a status other than 0 and 1 is refused', () => {
  const hash = `0x${'1'.repeat(64)}`
  const at = { transactionHash: hash, blockNumber: '0x1', blockHash: hash, from: `0x${'1'.repeat(40)}`, gasUsed: '0x1', logs: [] }
  expect(['0x0', '0x1'].map((status) => readReceipt({ ...at, status }).status)).toEqual(['reverted', 'success'])
  expect(() => readReceipt({ ...at, status: '0x2' })).toThrow('receipt status')
})
