import type { ErrorCode } from '../domain/errors.ts'
import type { Refusal } from '../domain/lane/lane.ts'

/** The code of each reason why a lane gives no nonce now. What is missing here is no matter of time. */
export const refusalCodes = {
  paused: 'LANE_PAUSED',
  unsynced: 'LANE_UNSYNCED',
  window: 'LANE_FULL',
  funds: 'LANE_FUNDS',
  draining: 'LANE_DRAINING',
  forbidden: 'LANE_FORBIDDEN',
  replaced: 'LANE_CHAIN_REPLACED',
  none: 'LANE_UNREACHABLE',
} as const satisfies Partial<Record<Refusal, ErrorCode>>
