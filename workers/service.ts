/** Something that runs beside the Temporal Workers. Stopping it twice does nothing more. */
export interface Service {
  stop(): Promise<void>
}
