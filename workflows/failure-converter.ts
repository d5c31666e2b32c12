import { DefaultFailureConverter } from '@temporalio/common'

/** With encrypted payloads, `workers/process/bundle.ts` replaces this word in the bundle, to save a second bundling. */
const form: string = 'FAILURES_PLAIN'

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: form.endsWith('CODED') })
