import type { TemporalClient } from '../temporal/client/client.ts'
import { streamProgress } from '../temporal/client/streams.ts'

/** Longest time until somebody else's word to a stream is noticed, ms. */
const everyMs = 30_000

/**
 * Whether a stream was told something since the last look: by another process, or by an operator's command. One call to the server, which no worker answers: an
 * agent whose view shows nothing to do asks that, and not for the whole state. Throws what the Temporal client throws.
 */
export function createStreamWatch(client: TemporalClient, stream: string, lookEveryMs = everyMs): () => Promise<boolean> {
  let lookAt = -Infinity
  let known: string | undefined
  return async () => {
    if (performance.now() < lookAt) return false
    lookAt = performance.now() + lookEveryMs
    const progress = await streamProgress(client, stream)
    const isChanged = progress !== known
    known = progress
    return isChanged
  }
}
