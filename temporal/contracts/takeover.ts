/** How soon work of a dead process is taken over, as the config said when a workflow was started: its memo `takeover`, so that a replay finds the same. */
export interface Takeover {
  /** Heartbeat time-out of the steps with a lane's key, ms. */
  heartbeatMs: number
  /** Longest wait of a broadcast for a process with the key, ms. */
  laneTaskMs: number
}

export const defaultTakeover: Takeover = { heartbeatMs: 15_000, laneTaskMs: 60_000 }

/** What a workflow goes by. */
export function takeoverOf(memo: Readonly<Record<string, unknown>> | undefined): Takeover {
  return { ...defaultTakeover, ...(memo?.['takeover'] as Partial<Takeover> | undefined) }
}
