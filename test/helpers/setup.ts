/** Runs before each test file (vitest.config.ts). */
import { afterAll, beforeEach } from 'vitest'
import { cleanUpFile } from './clean-up.ts'

// workflows/stack-traces.ts lowers the limit for its whole process. Inline snapshots and failures need their stacks. Tests
// with ten thousands of errors spend most of their time on longer ones.
beforeEach(() => {
  Error.stackTraceLimit = 20
})
afterAll(cleanUpFile)
