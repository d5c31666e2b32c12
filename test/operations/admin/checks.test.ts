import { expect, test } from 'vitest'
import { checkChains } from '../../../operations/admin/checks.ts'
import type { Chain, NodeStatus } from '../../../chains/port.ts'

type Heads = Chain['heads']
const seen = { current: { time: 1_700_000_000 } } as unknown as Heads
const unseen = { current: undefined } as unknown as Heads
const node = (state: NodeStatus['state'], more: Partial<NodeStatus> = {}): NodeStatus => ({
  ...{ name: 'n', origin: 'http://n', use: 'all', state, failures: 0 },
  ...more,
})
const chain = (name: string, heads: Heads, ...nodes: NodeStatus[]) => ({ name, heads, nodes: () => nodes })

test('a process stays ready with one chain away, and is not ready with all of them away', () => {
  const up = chain('ethereum', seen, node('failing'), node('up'))
  const away = chain('bsc', seen, node('failing'), node('up', { use: 'send' }), node('up', { added: true }))
  const early = chain('base', unseen, node('up'))
  expect(checkChains([up, away, early])).toEqual([
    { name: 'chain ethereum', ok: true, vital: false, problem: undefined },
    {
      name: 'chain bsc',
      ok: false,
      vital: false,
      problem: 'none of its nodes answers; the newest known block is of 2023-11-14T22:13:20.000Z',
    },
    { name: 'chain base', ok: false, vital: false, problem: 'no block was seen yet' },
  ])
  expect(checkChains([away, early]).map(({ vital }) => vital)).toEqual([true, true])
  expect(checkChains([])).toEqual([])
})

test('a chain that is only read for its oracle does not decide whether a process is ready', () => {
  const [oracle, down] = [chain('ethereum', seen, node('up')), chain('bsc', unseen, node('failing'))]
  expect(checkChains([down, oracle], new Set(['ethereum'])).map(({ vital }) => vital)).toEqual([true, false])
  expect(checkChains([oracle, down], new Set(['bsc'])).map(({ vital }) => vital)).toEqual([false, false])
})
