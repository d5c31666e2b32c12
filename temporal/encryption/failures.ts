import { DefaultFailureConverter } from '@temporalio/common'

/** Moves messages and stack traces into a payload, which the codec encrypts. Readers need no such converter. */
export const encodedFailures = new DefaultFailureConverter({ encodeCommonAttributes: true })
