import { DefaultFailureConverter } from '@temporalio/common'

/**
 * If payloads are encrypted, `workers/process/bundle.ts` replaces this word in the bundle. A second bundle would cost
 * time.
 */
const form: string = 'FAILURES_PLAIN'

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: form.endsWith('CODED') })
