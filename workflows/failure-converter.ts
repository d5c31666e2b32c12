import { DefaultFailureConverter } from '@temporalio/common'

/** `workers/process/bundle.ts` replaces this word if payloads are encrypted, since a second bundle would cost time. */
const form: string = 'FAILURES_PLAIN'

/** Moves texts of workflows' failures into payloads if payloads are encrypted, so that the codec encrypts them too. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: form.endsWith('CODED') })
