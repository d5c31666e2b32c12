/** How soon another process takes over. Stored in the memo `failover`, so that each replay reads the same values. */
export interface FailoverTimes {
  /** Heartbeat time-out (ms) of steps with a lane's key. */
  readonly heartbeatMs: number
  /** Longest wait (ms) for a process with the key. */
  readonly laneTaskMs: number
}

export const defaultFailoverTimes: FailoverTimes = { heartbeatMs: 15_000, laneTaskMs: 60_000 }

export function failoverTimesOf(memo: Readonly<Record<string, unknown>> | undefined): FailoverTimes {
  return { ...defaultFailoverTimes, ...(memo?.['failover'] as Partial<FailoverTimes> | undefined) }
}
