import type { Dashboard } from './grafana.ts'
import { queries } from './query.ts'

const { max, min, sum, rate, increase } = queries('lane')
const coins = (expr: string) => `${expr} / 1e18`

export const lanes: Dashboard = {
  name: 'lanes',
  title: 'lanes',
  description: 'Keys: their states, nonces in flight, balances and spending.',
  filters: [['lane', 'portage_lane_state']],
  rows: [
    {
      title: 'State',
      panels: [
        {
          ...{ title: 'States', unit: 'none', most: 1 },
          description:
            'A lane in the state active takes transfers. Lanes in the states funds, paused, draining, forbidden and replaced do not.',
          series: [[`${max('lane, state', 'portage_lane_state')} == 1`, '{{ lane }}: {{ state }}']],
        },
        {
          ...{ title: 'Missing roles', unit: 'none', most: 1 },
          description: '1 while the account lacks a role that a bridge requires.',
          series: [[max('lane, bridge', 'portage_lane_unauthorized'), '{{ lane }} at {{ bridge }}']],
        },
        {
          ...{ title: "Nonces that others' transactions used", unit: 'short' },
          description: 'Nonces that transactions of another program used. The program has the key: docs/runbooks/KEY_USED_ELSEWHERE.md.',
          series: [[increase('lane', 'portage_lane_external_nonces_total'), '{{ lane }}']],
        },
      ],
    },
    {
      title: 'In flight',
      panels: [
        {
          ...{ title: 'In flight, of the window', unit: 'short' },
          description: 'Nonces that are granted but not mined yet, and their limit.',
          series: [
            [max('lane', 'portage_lane_in_flight'), '{{ lane }}'],
            [max('lane', 'portage_lane_window'), '{{ lane }}: window'],
          ],
        },
        {
          ...{ title: 'Calls that wait for a nonce', unit: 'short' },
          description: 'Calls in all processes with the key. If the window is full, add keys or enlarge the window.',
          series: [[sum('lane', 'portage_lane_waiting'), '{{ lane }}']],
        },
        {
          ...{ title: 'Nonce gap', unit: 'short' },
          description: 'Number of nonces from the lowest nonce that is in no block up to the next nonce to be granted.',
          series: [[max('lane', 'portage_lane_nonce_gap'), '{{ lane }}']],
        },
        {
          ...{ title: 'Nonces kept until they are final', unit: 'short' },
          description: 'At the limit, the lane does not grant nonces.',
          series: [
            [max('lane', 'portage_lane_kept_entries'), '{{ lane }}'],
            [max('lane', 'portage_lane_kept_entries_limit'), '{{ lane }}: limit'],
          ],
        },
      ],
    },
    {
      title: 'Fees and funds',
      panels: [
        {
          ...{ title: 'Balance', unit: 'short' },
          description: 'Coins, as the process with the key last read them.',
          series: [[coins(min('lane', 'portage_lane_balance_wei')), '{{ lane }}']],
        },
        {
          ...{ title: 'Waiting for a top-up', unit: 'none', most: 1 },
          description: '1 while the balance is below the minimum of automatic top-ups: docs/runbooks/TOP_UP_HELD.md.',
          series: [[max('lane', 'portage_lane_top_up_due'), '{{ lane }}']],
        },
        {
          ...{ title: 'Watched tokens', unit: 'short' },
          description: 'Balances in the smallest unit of each token, and their minimums.',
          series: [
            [min('lane, token', 'portage_lane_token_balance'), '{{ lane }}: {{ token }}'],
            [max('lane, token', 'portage_lane_token_minimum'), '{{ lane }}: {{ token }} (minimum)'],
          ],
        },
        {
          ...{ title: 'Spent', unit: 'short' },
          description:
            'Coins for which the key signed in the last hour and the last day, with the most expensive attempt of each nonce. payment: coins paid.',
          series: [[coins(max('lane, window, kind', 'portage_lane_spent_wei')), '{{ lane }} ({{ kind }}, {{ window }})']],
        },
        {
          ...{ title: 'Spending limit', unit: 'short' },
          description: 'Coins per hour and per day, from the config.',
          series: [[coins(max('lane, window', 'portage_lane_spending_limit_wei')), '{{ lane }} ({{ window }})']],
        },
        {
          ...{ title: 'Raises', unit: 'short' },
          description: 'Further attempts. call: the same call with a higher fee. noop: a no-op instead of the call.',
          series: [[increase('lane, kind', 'portage_lane_raises_total'), '{{ lane }}: {{ kind }}']],
        },
        {
          ...{ title: 'Stuck at a limit', unit: 'short' },
          description: 'Nonces stuck at the highest fee that the policy allows, and nonces whose next attempt the signer refuses.',
          series: [
            [sum('lane', 'portage_lane_at_fee_limit'), '{{ lane }}: fee limit'],
            [sum('lane', 'portage_lane_signing_refused'), '{{ lane }}: signer refuses'],
          ],
        },
      ],
    },
    {
      title: 'Batches',
      panels: [
        {
          ...{ title: 'Batches signed', unit: 'cps' },
          description: 'Calls for several transfers.',
          series: [[rate('lane', 'portage_batches_total'), '{{ lane }}']],
        },
        {
          ...{ title: 'Members of a batch, mean', unit: 'short' },
          description: 'At 1, batches save nothing. At the limit of a route, transfers wait for the next batch.',
          series: [[`${rate('lane', 'portage_batch_members_total')} / ${rate('lane', 'portage_batches_total')}`, '{{ lane }}']],
        },
        {
          ...{ title: 'Outcomes of batches, and splits', unit: 'short' },
          description:
            'reverted: another relayer delivered a member first. split: the simulation reverted, so nothing was sent, and the halves are tried.',
          series: [
            [increase('lane, state', 'portage_batches_ended_total'), '{{ lane }}: {{ state }}'],
            [increase('lane', 'portage_batches_split_total'), '{{ lane }}: split'],
          ],
        },
      ],
    },
  ],
}
