import { ActivityFailure, ApplicationFailure, RetryState } from '@temporalio/common'
import { expect, test } from 'vitest'
import { codeOf } from '../../workflows/policies.ts'

const failed = (type: string) =>
  new ActivityFailure('failed', 'justify', '1', RetryState.NON_RETRYABLE_FAILURE, undefined, ApplicationFailure.nonRetryable('no', type))

// Anybody with a client of Temporal can answer a step with a failure of any type.
test.each([
  ['FEE_LIMIT', 'FEE_LIMIT'],
  ['NO_SUCH_CODE', 'INTERNAL'],
  ['constructor', 'INTERNAL'],
  ['__proto__', 'INTERNAL'],
  ['toString', 'INTERNAL'],
])('a step that failed as %s has the code %s', (type, code) => {
  expect(codeOf(failed(type))).toBe(code)
})
