/**
 * Frames of a stack trace in workflows. The SDK formats one for each promise, for the query `__stack_trace`. The first
 * two frames are the SDK's own. Each waiting function has a promise, so with two frames of each the Web UI still shows
 * the whole path.
 */
const frames = 4

// Once per thread, before the sandbox is frozen (workers/process/bundle.ts). No effect after that.
Reflect.set(Error, 'stackTraceLimit', frames)
