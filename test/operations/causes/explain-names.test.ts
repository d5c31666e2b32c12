import { expect, test } from 'vitest'
import { namesFinding } from '../../../cli/doctor/settings.ts'
import { namesOf } from '../../../config/chains.ts'
import { noSettings, type Settings } from '../../../domain/settings/settings.ts'
import { explain } from '../../../operations/causes/explain.ts'
import { at, config, facts, read, transfer } from './facts.ts'

const order = { by: 'ann', reason: 'a look', at: at - 90_000 }
const fees = [{ scope: { kind: 'chain', chain: 'former' }, policy: { maxTip: '1' } } as const]
const former: Settings = { ...noSettings, halts: [{ scope: { sourceChain: 'former' }, ...order }], fees }
const what =
  'The config lacks names of 2 orders in force: halt from former (there is no chain former), fees of chain:former (there is no chain former)'

test('a halt of a chain that the config lacks holds all transfers, and orders with such names are listed', () => {
  const rows = explain(facts({ settings: read(former), transfers: [transfer('a', { code: 'HALTED' })] }), config)
  expect(rows).toMatchObject([
    {
      ...{ code: 'HALTED', count: 1, what: expect.stringContaining('lacks the chain former') },
      next: ['portage settings', 'portage unhalt --source former --reason "<text>"'],
    },
    { code: 'ORDER_NAME_UNKNOWN', count: 0, what },
  ])
})

test('a source that has got a node is halted under both of its names', () => {
  const halts = [{ scope: { sourceChain: 'wormhole-4' }, ...order }]
  const held = transfer('a', { code: 'HALTED', sourceChain: 'bsc', targetChain: 'ethereum' })
  const rows = explain(facts({ settings: read({ ...noSettings, halts }), transfers: [held, transfer('b', { code: 'LANE_NONE' })] }), config)
  expect(rows.map(({ code, count }) => [code, count])).toEqual([
    ['HALTED', 1],
    ['LANE_NONE', 1],
    ['ORDER_NAME_UNKNOWN', 0],
  ])
  expect(rows[2]?.what).toContain("Wormhole's chain 4 is called bsc in the config")
})

test('portage doctor names each order whose name the config lacks', () => {
  expect(namesFinding(former, namesOf(config))).toMatchObject({ status: 'warn', detail: what, remedy: expect.stringContaining('unhalt') })
  expect(namesFinding(noSettings, namesOf(config))).toBe('the config has them all')
})
