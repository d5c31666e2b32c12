import { DefaultFailureConverter } from '@temporalio/common'

/** With encrypted payloads, `workers/process/bundle.ts` replaces this word, which is faster than another bundle. */
const form: string = 'FAILURES_PLAIN'

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: form.endsWith('CODED') })
