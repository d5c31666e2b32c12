import { DefaultFailureConverter } from '@temporalio/common'

/** `workers/process/bundle.ts` replaces this word if payloads are encrypted: a second bundle would cost time. */
const form: string = 'FAILURES_PLAIN'

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: form.endsWith('CODED') })
