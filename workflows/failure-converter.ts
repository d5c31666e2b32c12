import { DefaultFailureConverter } from '@temporalio/common'

/** `workers/process/bundle.ts` replaces this word where payloads are encrypted: a bundle of its own would cost every release and every start. */
const form: string = 'FAILURES_PLAIN'

/** As `temporal/encryption/failures.ts`, for failures that a workflow throws. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: form.endsWith('CODED') })
