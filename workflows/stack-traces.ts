/** Frames per promise in `__stack_trace`. The first two are the SDK's, and the other two show the whole path. */
const frames = 4

// This must run before the sandbox is frozen (workers/process/bundle.ts).
Reflect.set(Error, 'stackTraceLimit', frames)
