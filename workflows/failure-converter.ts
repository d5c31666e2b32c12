import { DefaultFailureConverter } from '@temporalio/common'

/**
 * `workers/process/bundle.ts` replaces this word where payloads are encrypted. A second bundle would cost time at every
 * release and start.
 */
const form: string = 'FAILURES_PLAIN'

/** Like `temporal/encryption/failures.ts`, for failures that a workflow throws. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: form.endsWith('CODED') })
