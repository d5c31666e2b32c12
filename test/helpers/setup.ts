/** Runs before each test file (vitest.config.ts). */
import { afterAll, beforeEach } from 'vitest'
import { cleanUpFile } from './clean-up.ts'

// Inline snapshots and failures need their stacks, but workflows/stack-traces.ts lowers the limit for its whole
// process. A higher limit would take most of the time of tests with ten thousand errors.
beforeEach(() => {
  Error.stackTraceLimit = 20
})
afterAll(cleanUpFile)
