import type { ErrorCode } from '../catalogue/errors.ts'
import type { LaneStatus, Refusal } from './messages.ts'

/** Error code of each reason why a lane grants nothing now. `withdrawn` and `conflict` are permanent and have none. */
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
