/** Frames per promise in `__stack_trace`. The first two frames are the SDK's. The other two show the whole path. */
const frames = 4

// Must run before the sandbox is frozen (workers/process/bundle.ts).
Reflect.set(Error, 'stackTraceLimit', frames)
