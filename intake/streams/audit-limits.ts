import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { StreamClient } from './stream-client.ts'

/** When an audit that somebody ordered ends, even if it has not found everything. */
export interface AuditLimits {
  /** Default: ten minutes; an audit waits for a block or two, and for nodes and servers that are slow. */
  readonly deadlineMs?: number | undefined
  /** Aborted: the process stops. */
  readonly stopping?: AbortSignal | undefined
}

const usualDeadlineMs = 600_000

/**
 * The result of an audit that ends in any case: a stream client sends an update until it is answered or closed, and the stream may be gone, or its ledger away. Closes the stream
 * client at the end. Throws STREAM_AUDIT_UNENDED, and what the audit throws.
 * @param audit is told by its signal to end
 */
export async function auditWithin<Result>(
  streamClient: Pick<StreamClient, 'close'>,
  stream: string,
  { deadlineMs = usualDeadlineMs, stopping }: AuditLimits,
  audit: (ending: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController()
  const unended = new Promise<never>((_, reject) =>
    ending.signal.addEventListener('abort', () => {
      reject(ending.signal.reason as RelayerError)
      streamClient.close()
    }),
  )
  const end = (detail: string) => ending.abort(new RelayerError('STREAM_AUDIT_UNENDED', { detail, facts: { stream } }))
  const stop = () => end('This process is stopping.')
  const timer = setTimeout(() => end(`It has not ended within ${Math.ceil(deadlineMs / 1_000)} s.`), deadlineMs).unref()
  stopping?.addEventListener('abort', stop)
  try {
    const ended = Promise.race([unended, audit(ending.signal)])
    if (stopping?.aborted) stop()
    return await ended
  } finally {
    clearTimeout(timer)
    stopping?.removeEventListener('abort', stop)
    streamClient.close()
  }
}
