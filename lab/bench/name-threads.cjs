// Preloaded into a measured process (NODE_OPTIONS=--require). Node runs it in the main thread and in each worker
// thread, and the kernel then shows their names. Synchronous file calls run in the calling thread. The names are those
// of proc-stat.ts.
const { writeFileSync } = require('node:fs')
const { isMainThread } = require('node:worker_threads')

try {
  writeFileSync('/proc/thread-self/comm', isMainThread ? 'js-main' : 'js-worker')
} catch {
  // Not Linux: CPU time is not measured there.
}
