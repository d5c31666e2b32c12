import { RelayerError } from '../../domain/catalogue/errors.ts'
import { Wait } from '../../runtime/wait.ts'
import type { StreamClient } from './stream-client.ts'

/** When an ordered audit ends, even if it is not complete. */
export interface AuditLimits {
  /** Default: ten minutes. An audit waits for a block or two, and for slow nodes and servers. */
  readonly deadlineMs?: number | undefined
  /** Aborted: the process stops. */
  readonly stopping?: AbortSignal | undefined
}

const usualDeadlineMs = 600_000

/**
 * Runs an audit that always ends. Without a limit, a stream client sends an update until it is answered or closed,
 * although the stream or its ledger may be gone. Closes the client at the end. Throws STREAM_AUDIT_UNENDED, and what
 * the audit throws.
 * @param audit has to end when its signal aborts
 */
export async function auditWithin<Result>(
  streamClient: Pick<StreamClient, 'close'>,
  stream: string,
  { deadlineMs = usualDeadlineMs, stopping }: AuditLimits,
  audit: (ending: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController()
  const wait = new Wait<Result>({ timeoutMs: deadlineMs, signal: stopping }, () => {
    const late = `It has not ended within ${Math.ceil(deadlineMs / 1_000)} s.`
    ending.abort()
    streamClient.close()
    wait.reject(
      new RelayerError('STREAM_AUDIT_UNENDED', { detail: stopping?.aborted ? 'This process is stopping.' : late, facts: { stream } }),
    )
  })
  audit(ending.signal).then(wait.resolve, wait.reject)
  return wait.promise.finally(() => streamClient.close())
}
