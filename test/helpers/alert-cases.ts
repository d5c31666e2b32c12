/** Series in promtool's notation, with one value per minute: `0+1x5` is 0 1 2 3 4 5. */
export type Series = Readonly<Record<string, string>>

interface Case {
  readonly series: Series
  /** Time after the start at which the alert must fire. */
  readonly at: string
  /** Time after the start at which the alert must still be quiet. */
  readonly quietAt?: string
  readonly labels: Readonly<Record<string, string>>
  /** The value that the alert's text must show. */
  readonly value?: string
}

export const lane = 'evm-1:0xaa'
export const stream = 'native-bridge:a:b'
const streamAlarm = (kind: string, at = '31m'): Case => ({
  series: { [`portage_stream_alarm{stream="${stream}",kind="${kind}"}`]: '0 0 1x60' },
  ...{ at, labels: { stream } },
})

/** The condition of each alert: a minute or two without trouble, then the trouble. */
export const cases: Readonly<Record<string, Case>> = {
  PortageEffectUndone: { series: { 'portage_effects_undone_total{chain="a"}': '0 0 1x20' }, at: '5m', labels: { chain: 'a' } },
  PortageLaneChainReplaced: { series: { [`portage_lane_state{lane="${lane}",state="replaced"}`]: '0 0 1x20' }, at: '5m', labels: { lane } },
  PortageExternalNonce: { series: { [`portage_lane_external_nonces_total{lane="${lane}"}`]: '0 0 1x20' }, at: '5m', labels: { lane } },
  PortageBridgeMismatch: {
    series: { 'portage_bridge_mismatch_total{route="n:a:b",code="X"}': '0 0 1x20' },
    ...{ at: '5m', labels: { route: 'n:a:b', code: 'X' } },
  },
  PortageSigningRefused: { series: { [`portage_lane_signing_refused{lane="${lane}"}`]: '0 0 2x20' }, at: '5m', labels: { lane } },
  PortageSpendingHigh: {
    series: {
      [`portage_lane_spent_wei{lane="${lane}",window="day"}`]: '10 10 90x20',
      [`portage_lane_spending_limit_wei{lane="${lane}",window="day"}`]: '100x22',
    },
    ...{ at: '5m', labels: { lane, window: 'day' }, value: '90%' },
  },
  PortageLaneWithoutFunds: { series: { [`portage_lane_state{lane="${lane}",state="funds"}`]: '0 0 1x20' }, at: '5m', labels: { lane } },
  PortageTopUpHeld: { series: { [`portage_lane_top_up_due{lane="${lane}"}`]: '0 1x20' }, at: '15m', labels: { lane } },
  PortageLaneTokenLow: {
    series: {
      [`portage_lane_token_balance{lane="${lane}",token="0xab",job="a"}`]: '7 4x20',
      [`portage_lane_token_minimum{lane="${lane}",token="0xab",job="a"}`]: '5x21',
    },
    ...{ at: '5m', labels: { lane, token: '0xab' }, value: '4' },
  },
  PortageLaneNotServed: {
    series: { [`portage_lane_state{lane="${lane}",state="active",job="a"}`]: '1 1 1 _x30' },
    ...{ at: '12m', labels: { lane } },
  },
  PortageRoleNotReady: {
    series: {
      'portage_process_ready{role="ledger",instance="1"}': '1 1 0+0x30',
      'portage_process_ready{role="ledger",instance="2"}': '1 1 _x30',
    },
    ...{ at: '12m', labels: { role: 'ledger' } },
  },
  PortageProcessNotReady: {
    series: {
      'portage_process_ready{role="chain",instance="1"}': '1 1 0+0x30',
      'portage_process_ready{role="chain",instance="2"}': '1 1 0+0x30',
      'portage_process_ready{role="chain",instance="3"}': '1x31',
    },
    ...{ at: '15m', labels: { role: 'chain' }, value: '2' },
  },
  PortageWorkflowStuck: { series: { 'portage_workflows_stuck{type="lane"}': '0 0 3x20' }, at: '5m', labels: { type: 'lane' }, value: '3' },
  PortageNodesDown: {
    series: {
      'portage_node_up{chain="a",node="1",use="all"}': '1 1 0+0x20',
      'portage_node_up{chain="a",node="2",use="all"}': '1 1 0+0x20',
    },
    ...{ at: '5m', labels: { chain: 'a' } },
  },
  PortageNoQuorum: { series: { 'portage_chain_quorum{chain="a"}': '1 1 0+0x20' }, at: '5m', labels: { chain: 'a' } },
  PortageFinalityStalled: {
    series: { 'portage_finalized_height{chain="a"}': '1 2 2x80', 'portage_head_height{chain="a"}': '1+1x80' },
    ...{ at: '70m', labels: { chain: 'a' } },
  },
  PortageChainStalled: { series: { 'portage_head_age_seconds{chain="a"}': '0+60x30' }, at: '15m', labels: { chain: 'a' } },
  PortageStreamForked: streamAlarm('forked', '5m'),
  PortageStreamVanished: streamAlarm('vanished', '5m'),
  PortageStreamUnknownCompletion: streamAlarm('unknown-completion', '40m'),
  PortageStreamDistrusted: streamAlarm('distrusted', '5m'),
  PortageStreamStalled: {
    series: {
      [`portage_stream_cursor_height{stream="${stream}"}`]: '1 2 2x30',
      [`portage_stream_lag_blocks{stream="${stream}"}`]: '0+1x30',
      [`portage_stream_paused{stream="${stream}"}`]: '0+0x31',
    },
    ...{ at: '20m', labels: { stream } },
  },
  PortageNodeDown: {
    series: { 'portage_node_up{chain="a",node="1",use="all"}': '1 1 0+0x30', 'portage_node_up{chain="a",node="2",use="all"}': '1x31' },
    ...{ at: '15m', labels: { chain: 'a', node: '1' } },
  },
  PortageNodeLags: {
    series: { 'portage_node_lag_blocks{chain="a",node="1"}': '0 0 9x30', 'portage_node_up{chain="a",node="1",use="all"}': '1x31' },
    ...{ at: '15m', labels: { chain: 'a', node: '1' }, value: '9' },
  },
  PortageSpyDisconnected: {
    series: { 'portage_spy_connected{bridge="w",spy="s"}': '1 1 0+0x30' },
    at: '10m',
    labels: { bridge: 'w', spy: 's' },
  },
  PortageLanePaused: { series: { [`portage_lane_state{lane="${lane}",state="paused"}`]: '0 0 1x80' }, at: '70m', labels: { lane } },
  PortageLaneUnauthorized: {
    series: { [`portage_lane_unauthorized{lane="${lane}",bridge="native-bridge"}`]: '0 0 1x20' },
    ...{ at: '10m', labels: { lane, bridge: 'native-bridge' } },
  },
  PortageGateClosed: {
    series: { 'portage_gate_waiting{route="n:a:b",code="BRIDGE_BUDGET"}': '0 0 4x80' },
    ...{ at: '70m', labels: { route: 'n:a:b', code: 'BRIDGE_BUDGET' }, value: '4' },
  },
  PortageStreamHidden: streamAlarm('hidden', '10m'),
  PortageStreamGap: { series: { [`portage_stream_oldest_gap_seconds{stream="${stream}"}`]: '0+60x80' }, at: '70m', labels: { stream } },
  PortageStreamWatermarkStalled: {
    series: {
      [`portage_stream_completed_nonce_height{stream="${stream}"}`]: '1 2 2x80',
      [`portage_stream_open{stream="${stream}"}`]: '0 1 1x80',
    },
    ...{ at: '75m', labels: { stream } },
  },
  PortageStreamPaused: { series: { [`portage_stream_paused{stream="${stream}"}`]: '0 0 1x80' }, at: '70m', labels: { stream } },
  PortageStreamCheckpoint: streamAlarm('checkpoint', '5m'),
  PortageStreamRefused: streamAlarm('refused', '10m'),
  PortageStreamCrowded: streamAlarm('crowded', '10m'),
  PortageStreamCheckpointOld: {
    series: {
      [`portage_stream_checkpoint_age_seconds{stream="${stream}"}`]: '0+60x80',
      [`portage_stream_cursor_height{stream="${stream}"}`]: '1+1x80',
    },
    ...{ at: '78m', labels: { stream } },
  },
  PortageWorkflowReset: { series: { 'portage_workflows_reset_total{type="lane"}': '0 0 1x20' }, at: '5m', labels: { type: 'lane' } },
  PortageTransfersParked: {
    series: { 'portage_transfers{state="parked"}': '0 0 2x20', 'portage_transfers{state="delivered"}': '5x22' },
    ...{ at: '10m', labels: { state: 'parked' }, value: '2' },
  },
  PortageTransfersSlow: {
    series: {
      'portage_transfer_seconds_bucket{chain="a",bridge="n",le="300"}': '0+8x90',
      'portage_transfer_seconds_count{chain="a",bridge="n"}': '0+10x90',
    },
    ...{ at: '80m', labels: { chain: 'a', bridge: 'n' }, value: '80%' },
  },
  PortageTransfersReopened: { series: { 'portage_transfers_reopened_total{chain="a"}': '0 0 1x20' }, at: '5m', labels: { chain: 'a' } },
  PortageAuditMissing: {
    series: { 'portage_audit_finished_time_seconds{chain="a"}': '0+0x60', 'portage_audit_interval_seconds{chain="a"}': '600x60' },
    ...{ quietAt: '40m', at: '42m', labels: { chain: 'a' }, value: '42m 0s' },
  },
  PortageLaneFull: {
    series: {
      [`portage_lane_waiting{lane="${lane}"}`]: '0 0 3x40',
      [`portage_lane_in_flight{lane="${lane}"}`]: '16x42',
      [`portage_lane_window{lane="${lane}"}`]: '16x42',
    },
    ...{ at: '20m', labels: { lane } },
  },
  PortageLaneKeepsTooMany: {
    series: { [`portage_lane_kept_entries{lane="${lane}"}`]: '0 0 90x20', [`portage_lane_kept_entries_limit{lane="${lane}"}`]: '100x22' },
    ...{ at: '5m', labels: { lane }, value: '90' },
  },
  PortageHalted: { series: { portage_halts: '0 0 1x80' }, at: '70m', labels: {} },
  PortageReceiverGone: {
    series: { 'portage_notification_receiver_disabled{receiver="pager",why="gone"}': '0 0 1x20' },
    ...{ at: '5m', labels: { receiver: 'pager' } },
  },
  PortageNotificationsUnsent: {
    series: { 'portage_notification_oldest_unsent_seconds{receiver="pager"}': '0 0 60+60x30' },
    ...{ at: '18m', labels: { receiver: 'pager' }, value: '17m 0s' },
  },
  PortageNotificationsWait: {
    series: {
      'portage_notifications_waiting{receiver="pager"}': '0 0 5x80',
      'portage_notification_oldest_unsent_seconds{receiver="pager"}': '0+0x82',
    },
    ...{ quietAt: '61m', at: '70m', labels: { receiver: 'pager' }, value: '5' },
  },
}

export const moreCases: Readonly<Record<string, Case>> = {
  // A stream that never resolved a number exports no watermark.
  PortageStreamWatermarkStalled: {
    series: { [`portage_stream_open{stream="${stream}"}`]: '1x80' },
    ...{ quietAt: '64m', at: '65m', labels: { stream } },
  },
  // Prometheus 3 writes the bound as `300.0`.
  PortageTransfersSlow: {
    series: {
      'portage_transfer_seconds_bucket{chain="a",bridge="n",le="300.0"}': '0+8x90',
      'portage_transfer_seconds_count{chain="a",bridge="n"}': '0+10x90',
    },
    ...{ at: '80m', labels: { chain: 'a', bridge: 'n' }, value: '80%' },
  },
}

/** A healthy fleet: heights grow, and counters of trouble do not. */
export const healthy: Series = {
  'portage_node_up{chain="a",node="1",use="all"}': '1x120',
  'portage_chain_quorum{chain="a"}': '1x120',
  'portage_node_lag_blocks{chain="a",node="1"}': '1x120',
  'portage_spy_connected{bridge="w",spy="s"}': '1x120',
  'portage_process_ready{role="chain",instance="1"}': '1x120',
  // A restart of one minute, as in an upgrade, must fire no alert.
  'portage_process_ready{role="chain",instance="2"}': '1x20 0 1x98',
  'portage_process_ready{role="ledger",instance="3"}': '1x20 _ 1x98',
  'portage_head_height{chain="a"}': '1+5x120',
  'portage_head_age_seconds{chain="a"}': '12x120',
  'portage_finalized_height{chain="a"}': '1+5x120',
  [`portage_lane_in_flight{lane="${lane}"}`]: '3x120',
  [`portage_lane_window{lane="${lane}"}`]: '16x120',
  [`portage_lane_waiting{lane="${lane}"}`]: '0+0x120',
  [`portage_lane_kept_entries{lane="${lane}"}`]: '3x120',
  [`portage_lane_kept_entries_limit{lane="${lane}"}`]: '100x120',
  [`portage_lane_spent_wei{lane="${lane}",window="day"}`]: '0+0.1x120',
  [`portage_lane_spending_limit_wei{lane="${lane}",window="day"}`]: '100x120',
  [`portage_lane_state{lane="${lane}",state="ready"}`]: '1x120',
  [`portage_lane_state{lane="${lane}",state="funds"}`]: '0+0x120',
  [`portage_lane_state{lane="${lane}",state="replaced"}`]: '0+0x120',
  [`portage_lane_external_nonces_total{lane="${lane}"}`]: '1x120',
  'portage_effects_undone_total{chain="a"}': '2x120',
  'portage_audit_finished_time_seconds{chain="a"}': '0+60x120',
  'portage_audit_interval_seconds{chain="a"}': '600x120',
  'portage_workflows_reset_total{type="lane"}': '1x120',
  [`portage_stream_cursor_height{stream="${stream}"}`]: '1+5x120',
  [`portage_stream_lag_blocks{stream="${stream}"}`]: '2x120',
  [`portage_stream_open{stream="${stream}"}`]: '4x120',
  [`portage_stream_completed_nonce_height{stream="${stream}"}`]: '0+1x120',
  [`portage_stream_oldest_gap_seconds{stream="${stream}"}`]: '0+0x120',
  [`portage_stream_checkpoint_age_seconds{stream="${stream}"}`]: '30x120',
  [`portage_stream_paused{stream="${stream}"}`]: '0+0x120',
  [`portage_stream_alarm{stream="${stream}",kind="forked"}`]: '0+0x120',
  // A source without a node may be silent for hours without an alert.
  'portage_stream_open{stream="w:wormhole-1:e"}': '0+0x120',
  'portage_stream_completed_nonce_height{stream="w:wormhole-1:e"}': '1000000x120',
  'portage_stream_oldest_gap_seconds{stream="w:wormhole-1:e"}': '0+0x120',
  'portage_stream_checkpoint_age_seconds{stream="w:wormhole-1:e"}': '0+60x120',
  'portage_transfers{state="parked"}': '0+0x120',
  'portage_transfers{state="delivered"}': '0+7x120',
  'portage_transfer_seconds_bucket{chain="a",bridge="n",le="300"}': '0+7x120',
  'portage_transfer_seconds_count{chain="a",bridge="n"}': '0+7x120',
  portage_halts: '0+0x120',
  'portage_notifications_waiting{receiver="pager"}': '0+0x120',
}
