import { DefaultFailureConverter } from '@temporalio/common'

/** `workers/process/bundle.ts` replaces this word if payloads are encrypted, since a second bundle would cost time. */
const form: string = 'FAILURES_PLAIN'

/** Does for failures of workflows what `temporal/encryption/codec.ts` does elsewhere. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: form.endsWith('CODED') })
