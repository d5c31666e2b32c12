import { DefaultFailureConverter } from '@temporalio/common'

/** Puts messages and stack traces of failures into a payload, so that the codec encrypts them. Readers need no such converter. */
export const encodedFailures = new DefaultFailureConverter({ encodeCommonAttributes: true })
