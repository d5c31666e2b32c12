import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { streamProgress } from '../../temporal/client/streams/streams.ts'

/** Longest time until somebody else's word to a stream is noticed, ms. */
const everyMs = 30_000

/**
 * Whether a stream was told something since the last change that the caller has dealt with: by another process, or by an operator's command. One call to the
 * server, which no worker answers: an agent whose view shows nothing to do asks that, and not for the whole state. The answer is called once the change is dealt
 * with: until then each look finds it again. Undefined: nothing new. Throws what the Temporal client throws.
 */
export function createStreamWatch(client: TemporalClient, stream: string, lookEveryMs = everyMs): () => Promise<(() => void) | undefined> {
  let lookAt = -Infinity
  let known: string | undefined
  return async () => {
    if (performance.now() < lookAt) return undefined
    lookAt = performance.now() + lookEveryMs
    const progress = await streamProgress(client, stream)
    return progress === known ? undefined : () => void (known = progress)
  }
}
