/** For `__stack_trace`. The first two frames are the SDK's. Two of each promise still show the whole path. */
const frames = 4

// Before the sandbox is frozen (workers/process/bundle.ts). No effect after that.
Reflect.set(Error, 'stackTraceLimit', frames)
