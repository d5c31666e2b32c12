import type { ErrorCode } from '../catalogue/errors.ts'
import type { LaneStatus, Refusal } from './messages.ts'

/** The error code of each reason for which a lane gives no nonce now. `withdrawn` and `conflict` do not pass with time, and have none. */
export const refusalCodes = {
  paused: 'LANE_PAUSED',
  unsynced: 'LANE_UNSYNCED',
  window: 'LANE_FULL',
  funds: 'LANE_FUNDS',
  draining: 'LANE_DRAINING',
  forbidden: 'LANE_FORBIDDEN',
  replaced: 'LANE_CHAIN_REPLACED',
  unserved: 'LANE_UNREACHABLE',
  none: 'LANE_UNREACHABLE',
} as const satisfies Record<Exclude<Refusal, 'withdrawn' | 'conflict'> | NonNullable<LaneStatus['why']>, ErrorCode>
