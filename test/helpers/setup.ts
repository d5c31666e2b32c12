/** Vitest runs this file before each test file (vitest.config.ts). */
import { afterAll, beforeEach } from 'vitest'
import { cleanUpFile } from './clean-up.ts'

// Inline snapshots and failures need stack traces, but workflows/stack-traces.ts lowers `Error.stackTraceLimit` for the
// whole process. A limit above 20 would slow down tests that make ten thousand errors.
beforeEach(() => {
  Error.stackTraceLimit = 20
})
afterAll(cleanUpFile)
