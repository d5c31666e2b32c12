/** A part of a process beside its Temporal Workers. It may be stopped twice. */
export interface Service {
  stop(): Promise<void>
}
