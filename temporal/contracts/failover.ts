/** Kept in the memo `failover`, so that replays read the same times. */
export interface FailoverTimes {
  /** Heartbeat time-out of steps with a lane's key. */
  readonly heartbeatMs: number
  /** Maximum wait for a process with the key. */
  readonly laneTaskMs: number
}

export const defaultFailoverTimes: FailoverTimes = { heartbeatMs: 15_000, laneTaskMs: 60_000 }

export function failoverTimesOf(memo: Readonly<Record<string, unknown>> | undefined): FailoverTimes {
  return { ...defaultFailoverTimes, ...(memo?.['failover'] as Partial<FailoverTimes> | undefined) }
}
