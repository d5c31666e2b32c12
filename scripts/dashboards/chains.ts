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
          description: 'As the most recent process sees it. The age grows while the chain or all of its nodes are stalled.',
          series: [[min('chain', 'portage_head_age_seconds'), '{{ chain }}']],
        },
        {
          ...{ title: 'Height', unit: 'none' },
          description: 'The latest block and the latest final block.',
          series: [
            [max('chain', 'portage_head_height'), '{{ chain }}'],
            [max('chain', 'portage_finalized_height'), '{{ chain }}: final'],
          ],
        },
        {
          ...{ title: 'Blocks that are not final', unit: 'short' },
          description: 'Number of blocks from the latest final block to the head.',
          series: [[`${max('chain', 'portage_head_height')} - ${max('chain', 'portage_finalized_height')}`, '{{ chain }}']],
        },
        {
          ...{ title: 'Reorganisations', unit: 'short' },
          description: 'Number of rollbacks of blocks, from the process that saw the most.',
          series: [[`max by (chain) (${increase('chain, instance', 'portage_reorgs_total')})`, '{{ chain }}']],
        },
        {
          ...{ title: 'Deepest reorganisation', unit: 'short' },
          description:
            'Maximum number of blocks in one rollback since the processes started. If it is close to the depth of finality, raise the depth of finality.',
          series: [[max('chain', 'portage_reorg_depth_blocks'), '{{ chain }}']],
        },
        {
          ...{ title: 'Majority of nodes', unit: 'none', most: 1 },
          description: '0: no block becomes final, and messages get no verdict.',
          series: [[min('chain', 'portage_chain_quorum'), '{{ chain }}']],
        },
      ],
    },
    {
      title: 'Nodes',
      panels: [
        {
          ...{ title: 'In use', unit: 'none', most: 1 },
          description: '0: for at least one process, the node is down, disabled, or on another network.',
          series: [[min('chain, node, use', 'portage_node_up'), '{{ chain }}: {{ node }} ({{ use }})']],
        },
        {
          ...{ title: 'Blocks behind the best node', unit: 'short' },
          description: 'Shown only for nodes that were compared.',
          series: [[max('chain, node', 'portage_node_lag_blocks'), '{{ chain }}: {{ node }}']],
        },
        {
          ...{ title: 'Time to answer', unit: 's' },
          description: 'Moving average of the slowest process.',
          series: [[max('chain, node', 'portage_node_latency_seconds'), '{{ chain }}: {{ node }}']],
        },
        {
          ...{ title: 'Failures', unit: 'cps' },
          description: 'Requests with no answer, or with status 429 or 5xx.',
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
