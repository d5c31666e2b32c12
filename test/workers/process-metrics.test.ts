import { expect, test } from 'vitest'
import type { Chain, HeadEvent } from '../../chains/port.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { processMetrics } from '../../workers/telemetry/process-metrics.ts'

const head = (height: number, rolledBack = 0): HeadEvent => ({
  applied: [],
  rolledBack: Array.from({ length: rolledBack }, (_, index) => ({ height: height - index, hash: `0x${index}` })),
  latest: { height, hash: '0x1', parentHash: '0x0', timestamp: 0, transactions: [] },
  finalized: height - 2,
  time: Math.floor(Date.now() / 1_000) - 30,
})

function chainAt(first: HeadEvent) {
  let current = first
  const listeners: ((event: HeadEvent) => void)[] = []
  const chain = {
    name: 'test',
    heads: {
      get current() {
        return current
      },
      subscribe: (listener: (event: HeadEvent) => void) => listeners.push(listener),
    },
    nodes: () => [],
    callsByNode: new Map([
      ['one', new Map([['eth_call', 3]])],
      [
        'two',
        new Map([
          ['eth_call', 4],
          ['eth_chainId', 1],
        ]),
      ],
    ]),
  } as unknown as Chain
  const tell = (event: HeadEvent) => {
    current = event
    for (const listener of listeners) listener(event)
  }
  return { chain, tell }
}

const lane = 'evm-1:0xa'
const agent = {
  ...{ lane, load: { waiting: 2, pending: 0 }, balance: '7', external: 0, atFeeLimit: 0, signingRefused: 0, spending: [] },
  ...{ batchCounts: { members: 0, signed: 0, split: 0, ended: new Map() }, raises: { call: 4, noop: 1 } },
  tokens: [{ token: '0xab', balance: '4', minimum: '5' }],
  view: { synced: true, next: 12, latest: 9, finalized: 5, window: 16, inFlight: 3, external: 0 },
} as unknown as LaneAgent

test('calls, head age, reorganisations, raises and the nonce gap come from chains and lanes', async () => {
  const { chain, tell } = chainAt(head(10))
  const metrics = processMetrics({ chains: new Map([['test', chain]]) }, [agent], () => noSettings, createMetrics())
  expect(await metrics.render()).not.toContain('portage_reorgs_total{')
  tell(head(11))
  tell(head(11, 3))
  tell(head(12, 1))
  const text = await metrics.render()
  const lines = text.split('\n')
  for (const line of [
    'portage_rpc_calls_total{chain="test",method="eth_call",node="one"} 3',
    'portage_rpc_calls_total{chain="test",method="eth_call",node="two"} 4',
    'portage_rpc_calls_total{chain="test",method="eth_chainId",node="two"} 1',
    'portage_reorgs_total{chain="test"} 2',
    'portage_reorg_depth_blocks{chain="test"} 3',
    `portage_lane_raises_total{lane="${lane}",kind="call"} 4`,
    `portage_lane_raises_total{lane="${lane}",kind="noop"} 1`,
    `portage_lane_token_balance{lane="${lane}",token="0xab"} 4`,
    `portage_lane_token_minimum{lane="${lane}",token="0xab"} 5`,
    `portage_lane_nonce_gap{lane="${lane}"} 3`,
    `portage_lane_window{lane="${lane}"} 16`,
    `portage_lane_in_flight{lane="${lane}"} 3`,
  ])
    expect(lines).toContain(line)
  expect(Number(/^portage_head_age_seconds\{chain="test"\} (\S+)/m.exec(text)?.[1])).toBeGreaterThanOrEqual(30)
  // The chain itself counts these totals, so a second rendering must not add them up.
  expect((await metrics.render()).split('\n')).toContain('portage_rpc_calls_total{chain="test",method="eth_call",node="two"} 4')
})
