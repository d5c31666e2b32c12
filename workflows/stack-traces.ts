/** Frames per promise in `__stack_trace`: two of the SDK, and two that show the whole path. */
const frames = 4

// Runs before the sandbox is frozen (workers/process/bundle.ts).
Reflect.set(Error, 'stackTraceLimit', frames)
