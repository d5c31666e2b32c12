import type { Dashboard } from './grafana.ts'
import { queries } from './query.ts'

const { max, sum, rate, increase, quantile, mean } = queries('chain')
const coins = (expr: string) => `${expr} / 1e18`

export const transfers: Dashboard = {
  name: 'transfers',
  title: 'transfers',
  description: 'From the message to the effect: intake, states, duration of each step, and reasons for waiting.',
  filters: [['chain', 'portage_head_height']],
  rows: [
    {
      title: 'Intake',
      panels: [
        {
          ...{ title: 'Messages', unit: 'cps' },
          description: 'By source and bridge.',
          series: [[rate('via, bridge', 'portage_intake_messages_total'), '{{ bridge }} by {{ via }}']],
        },
        {
          ...{ title: 'Became transfers', unit: 'cps' },
          description: 'status=known: the transfer already existed.',
          series: [[rate('via, bridge, status', 'portage_intake_started_total'), '{{ bridge }} by {{ via }}: {{ status }}']],
        },
        {
          ...{ title: 'Refused', unit: 'cps' },
          description: 'Messages that were refused before they got an id, by error code (docs/reference/errors.md).',
          series: [[rate('bridge, code', 'portage_intake_refused_total'), '{{ bridge }}: {{ code }}']],
        },
        {
          ...{ title: 'Guardian spy', unit: 'none', most: 1 },
          description:
            'connected: 1 while a process has a subscription. paused: 1 while a process does not read because too many messages wait.',
          series: [
            [max('bridge, spy', 'portage_spy_connected'), '{{ spy }} connected'],
            [max('bridge, spy', 'portage_spy_paused'), '{{ spy }} paused'],
          ],
        },
        {
          ...{ title: 'Waiting messages of the spy', unit: 'short' },
          description: 'Messages that are being submitted or wait, and messages that wait for an unknown guardian set.',
          series: [
            [sum('bridge, spy', 'portage_spy_kept'), '{{ spy }}'],
            [sum('bridge, spy', 'portage_spy_unknown_sets'), '{{ spy }}: unknown set'],
          ],
        },
      ],
    },
    {
      title: 'States',
      panels: [
        {
          ...{ title: 'Transfers by state', unit: 'short' },
          description:
            'Transfers as Temporal counts them: open transfers, and closed transfers until their retention ends (docs/concepts/lifecycle.md).',
          series: [[max('state', 'portage_transfers'), '{{ state }}']],
        },
        {
          ...{ title: 'Parked, by code', unit: 'short' },
          description: 'Transfers that wait for an operator: docs/runbooks/TRANSFERS_PARKED.md.',
          series: [[max('code', 'portage_transfers_parked'), '{{ code }}']],
        },
        {
          ...{ title: 'Waiting at a gate', unit: 'short' },
          description: 'Transfers that a bridge cannot take now: budget, pause, role.',
          series: [[sum('route, code', 'portage_gate_waiting'), '{{ route }}: {{ code }}']],
        },
        {
          ...{ title: 'Quarantined', unit: 'short' },
          description:
            'Deliveries that reverted, or that every node refused, despite a successful simulation. Their recipient, token or batch must wait.',
          series: [[increase('chain, kind', 'portage_quarantines_total'), '{{ chain }}: {{ kind }}']],
        },
        {
          ...{ title: 'Gas lost', unit: 'short' },
          description: 'Gas of deliveries that reverted in a block, or of their no-ops, wei. outrun: another delivery came first.',
          series: [[increase('chain, kind', 'portage_losses_wei_total'), '{{ chain }}: {{ kind }}']],
        },
        {
          ...{ title: 'Started again', unit: 'short' },
          description:
            'undone: a reorg deeper than finality removed a delivered effect. reopened: the transfer closed without an outcome, or made no progress.',
          series: [
            [increase('chain', 'portage_effects_undone_total'), '{{ chain }}: undone'],
            [increase('chain', 'portage_transfers_reopened_total'), '{{ chain }}: reopened'],
          ],
        },
        {
          ...{ title: 'Contradictions of bridges', unit: 'short' },
          description: 'Contradictions between the two contracts of a route. Each contradiction halts its route.',
          series: [[increase('route, code', 'portage_bridge_mismatch_total'), '{{ route }}: {{ code }}']],
        },
      ],
    },
    {
      title: 'Duration',
      panels: [
        ...[0.5, 0.95, 0.99].map((share) => ({
          ...{ title: `Seen to delivered, ${share * 100} %`, unit: 's' as const },
          description: 'From the first sight of the message (native bridge: of its final block) to the finality of the effect.',
          series: [[quantile(share, 'chain, bridge', 'portage_transfer_seconds'), '{{ bridge }} to {{ chain }}']] as const,
        })),
        {
          ...{ title: 'Steps, mean', unit: 's' },
          description: 'The steps add up to the total. Start with the longest step.',
          series: [[mean('step', 'portage_transfer_step_seconds'), '{{ step }}']],
        },
        {
          ...{ title: 'Steps, 95 %', unit: 's' },
          description: 'From the previous step to this step. Only first tries count.',
          series: [[quantile(0.95, 'step', 'portage_transfer_step_seconds'), '{{ step }}']],
        },
        {
          ...{ title: 'Steps by chain, 95 %', unit: 's' },
          description: 'From the previous step to this step, for each target chain.',
          series: [[quantile(0.95, 'chain, step', 'portage_transfer_step_seconds'), '{{ chain }}: {{ step }}']],
        },
      ],
    },
    {
      title: 'Fees and audits',
      panels: [
        {
          ...{ title: 'Fees earned', unit: 'short' },
          description: 'Coins of the target chain per second, at the prices of the config and of quotes.',
          series: [[coins(rate('chain, bridge', 'portage_fees_earned_wei_total')), '{{ bridge }} to {{ chain }}']],
        },
        {
          ...{ title: 'Cost of deliveries', unit: 'short' },
          description:
            'Gas and coins of the final transactions that delivered transfers or stages of transfers, in coins of the target chain per second.',
          series: [[coins(rate('chain, bridge', 'portage_delivery_cost_wei_total')), '{{ bridge }} to {{ chain }}']],
        },
        {
          ...{ title: 'Cost of transactions without a delivery', unit: 'short' },
          description:
            'Gas and lost coins of final transactions that delivered nothing, including those of parked and declined transfers, in coins of the target chain per second.',
          series: [[coins(rate('chain, bridge', 'portage_useless_delivery_cost_wei_total')), '{{ bridge }} to {{ chain }}']],
        },
        {
          ...{ title: 'Shadow mode: deliveries not sent', unit: 'short' },
          description: 'Transfers that were ready to be sent to chains in shadow mode.',
          series: [[increase('chain, bridge', 'portage_shadow_deliveries_total'), '{{ bridge }} to {{ chain }}']],
        },
        {
          ...{ title: 'Shadow mode: cost not paid', unit: 'short' },
          description: 'Gas and coins of the deliveries that were not sent, in coins of the target chain per second.',
          series: [[coins(rate('chain, bridge', 'portage_shadow_cost_wei_total')), '{{ bridge }} to {{ chain }}']],
        },
        {
          ...{ title: 'Audits', unit: 'short' },
          description: 'Finished audits of deliveries.',
          series: [[increase('chain', 'portage_audits_total'), '{{ chain }}']],
        },
        {
          ...{ title: 'Time since the last audit', unit: 's' },
          description: 'Time since any process last finished an audit. More than three intervals is too long.',
          series: [
            [`time() - ${max('chain', 'portage_audit_finished_time_seconds')}`, '{{ chain }}'],
            [`3 * ${max('chain', 'portage_audit_interval_seconds')}`, '{{ chain }}: three intervals'],
          ],
        },
      ],
    },
  ],
}
