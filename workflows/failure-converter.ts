import { DefaultFailureConverter } from '@temporalio/common'

/** `workers/process/bundle.ts` replaces this word if payloads are encrypted. A second bundle would cost time. */
const form: string = 'FAILURES_PLAIN'

/** Like `temporal/encryption/codec.ts`, for failures of workflows. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: form.endsWith('CODED') })
