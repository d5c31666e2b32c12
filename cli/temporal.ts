import type { Config } from '../config/schema.ts'
import type { TemporalClient } from '../temporal/client/client.ts'
import { withTemporalClient } from '../temporal/client/connect.ts'

/** Runs `use` with a client of the config's namespace and closes the connection. Throws TEMPORAL_UNAVAILABLE, TEMPORAL_TLS. */
export function withClient<Result>(
  { temporal, worker }: Pick<Config, 'temporal' | 'worker'>,
  use: (client: TemporalClient) => Promise<Result>,
): Promise<Result> {
  return withTemporalClient({ ...temporal, takeover: worker }, use)
}
