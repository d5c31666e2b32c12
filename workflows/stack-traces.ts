/**
 * Frames of a stack trace in workflows. For each promise that a workflow makes the SDK formats one, for the query `__stack_trace`. The first two of it are the
 * SDK's own, and each function that waits has a promise: with two frames of each, the Web UI still shows the whole way to where a workflow waits.
 */
const frames = 4

// Once per thread, before the sandbox is frozen (workers/process/bundle.ts); without effect after that.
Reflect.set(Error, 'stackTraceLimit', frames)
