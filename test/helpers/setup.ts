/** Runs before each test file (vitest.config.ts). */
import { afterAll, beforeEach } from 'vitest'
import { cleanUpFile } from './clean-up.ts'

// workflows/stack-traces.ts lowers the limit for its whole process. Inline snapshots and failures need their stacks.
// Longer ones would take most of the time of tests with ten thousand errors.
beforeEach(() => {
  Error.stackTraceLimit = 20
})
afterAll(cleanUpFile)
