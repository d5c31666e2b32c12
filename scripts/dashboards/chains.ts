import type { Dashboard } from './grafana.ts'
import { queries } from './query.ts'

const { max, min, rate, increase } = queries('chain')

/** Chains and their nodes. */
export const chains: Dashboard = {
  name: 'chains',
  title: 'chains and nodes',
  description: 'Whether chains make blocks and nodes tell of them, and what we ask them.',
  filters: [['chain', 'portage_head_height']],
  rows: [
    {
      title: 'Chains',
      panels: [
        {
          ...{ title: 'Age of the head', unit: 's' },
          description: 'Of the freshest process. Of a chain that stands, or nodes that stand, it grows.',
          series: [[min('chain', 'portage_head_age_seconds'), '{{ chain }}']],
        },
        {
          ...{ title: 'Height', unit: 'none' },
          description: 'Of the latest block, and of the latest final one.',
          series: [
            [max('chain', 'portage_head_height'), '{{ chain }}'],
            [max('chain', 'portage_finalized_height'), '{{ chain }}: final'],
          ],
        },
        {
          ...{ title: 'Blocks that are not final', unit: 'short' },
          description: 'From the latest final block to the head.',
          series: [[`${max('chain', 'portage_head_height')} - ${max('chain', 'portage_finalized_height')}`, '{{ chain }}']],
        },
        {
          ...{ title: 'Reorganisations', unit: 'short' },
          description: 'Times that blocks were rolled back, as the process saw them that saw most.',
          series: [[`max by (chain) (${increase('chain, instance', 'portage_reorgs_total')})`, '{{ chain }}']],
        },
        {
          ...{ title: 'Deepest reorganisation', unit: 'short' },
          description: 'Blocks that were rolled back at once, since the processes started. Near the depth of finality: raise it.',
          series: [[max('chain', 'portage_reorg_depth_blocks'), '{{ chain }}']],
        },
        {
          ...{ title: 'Majority of nodes', unit: 'none', most: 1 },
          description: '0: nothing becomes final, and no verdict is given.',
          series: [[min('chain', 'portage_chain_quorum'), '{{ chain }}']],
        },
      ],
    },
    {
      title: 'Nodes',
      panels: [
        {
          ...{ title: 'In use', unit: 'none', most: 1 },
          description: '0: down, of another network, or disabled, for at least one process.',
          series: [[min('chain, node, use', 'portage_node_up'), '{{ chain }}: {{ node }} ({{ use }})']],
        },
        {
          ...{ title: 'Blocks behind the best node', unit: 'short' },
          description: 'Where it was compared.',
          series: [[max('chain, node', 'portage_node_lag_blocks'), '{{ chain }}: {{ node }}']],
        },
        {
          ...{ title: 'Time to answer', unit: 's' },
          description: 'Moving average, of the slowest process.',
          series: [[max('chain, node', 'portage_node_latency_seconds'), '{{ chain }}: {{ node }}']],
        },
        {
          ...{ title: 'Failures', unit: 'cps' },
          description: 'No answer, 429 or 5xx.',
          series: [[rate('chain, node', 'portage_node_failures_total'), '{{ chain }}: {{ node }}']],
        },
        {
          ...{ title: 'Calls by method', unit: 'reqps' },
          description: 'JSON-RPC calls of all processes.',
          series: [[rate('chain, method', 'portage_rpc_calls_total'), '{{ chain }}: {{ method }}']],
        },
        {
          ...{ title: 'Calls by node', unit: 'reqps' },
          description: "To hold against what the node's provider allows.",
          series: [[rate('chain, node', 'portage_rpc_calls_total'), '{{ chain }}: {{ node }}']],
        },
      ],
    },
  ],
}
