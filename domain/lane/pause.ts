import type { ErrorCode } from '../errors.ts'

const barredCode: ErrorCode = 'BRIDGE_ROLE_MISSING'

/** The reason of a pause that Portage orders for a lane whose key may deliver nothing, and ends by itself when it may. */
export function unauthorizedPause(what: string): string {
  return `${barredCode}: ${what}; Portage resumes the lane by itself`
}

/** Was the lane paused so, and by no operator? */
export function isUnauthorizedPause(reason: string | undefined): boolean {
  return reason?.startsWith(`${barredCode}:`) ?? false
}
