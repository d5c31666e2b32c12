import type { Dashboard } from './grafana.ts'
import { queries } from './query.ts'

const { max, min, rate, increase } = queries('chain')

export const chains: Dashboard = {
  name: 'chains',
  title: 'chains and nodes',
  description: 'Blocks of the chains, and the state and load of their nodes.',
  filters: [['chain', 'portage_head_height']],
  rows: [
    {
      title: 'Chains',
      panels: [
        {
          ...{ title: 'Age of the head', unit: 's' },
          description: 'By the freshest process. It grows while the chain or all of its nodes have stopped.',
          series: [[min('chain', 'portage_head_age_seconds'), '{{ chain }}']],
        },
        {
          ...{ title: 'Height', unit: 'none' },
          description: 'The latest block, and the latest final one.',
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
          description: 'Times that blocks were rolled back, by the process that saw most of them.',
          series: [[`max by (chain) (${increase('chain, instance', 'portage_reorgs_total')})`, '{{ chain }}']],
        },
        {
          ...{ title: 'Deepest reorganisation', unit: 'short' },
          description:
            'Most blocks that were rolled back together since the processes started. If it is near the depth of finality, raise that.',
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
          description: 'Only nodes that were compared.',
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
          description: "Compare with the limit of the node's provider.",
          series: [[rate('chain, node', 'portage_rpc_calls_total'), '{{ chain }}: {{ node }}']],
        },
      ],
    },
  ],
}
