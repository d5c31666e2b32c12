import { RelayerError } from '../../domain/catalogue/errors.ts'
import { Wait } from '../../runtime/wait.ts'
import type { StreamClient } from './stream-client.ts'

/** When an ordered audit ends, even if it is not complete. */
export interface AuditLimits {
  /** Default: ten minutes, for a block or two, and slow nodes and servers. */
  readonly deadlineMs?: number | undefined
  readonly stopping?: AbortSignal | undefined
}

const usualDeadlineMs = 600_000

/**
 * An audit that always ends, though a stream client sends until it is answered. `audit` must end on its signal.
 * Closes the client. Throws STREAM_AUDIT_UNENDED, and what the audit throws.
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
