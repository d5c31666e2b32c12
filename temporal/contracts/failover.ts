/** Times after which another process takes over, in the memo `failover`, so that each replay reads the same ones. */
export interface FailoverTimes {
  /** Heartbeat time-out of steps with a lane's key, ms. */
  readonly heartbeatMs: number
  /** Longest wait for a process with the key, ms. */
  readonly laneTaskMs: number
}

export const defaultFailoverTimes: FailoverTimes = { heartbeatMs: 15_000, laneTaskMs: 60_000 }

export function failoverTimesOf(memo: Readonly<Record<string, unknown>> | undefined): FailoverTimes {
  return { ...defaultFailoverTimes, ...(memo?.['failover'] as Partial<FailoverTimes> | undefined) }
}
