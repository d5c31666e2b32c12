// NODE_OPTIONS preloads this file in the main thread and in each worker thread of a measured process. It writes one of
// the names in proc-stat.ts as the name of its own thread. This needs synchronous file calls, which run in the calling
// thread.
const { writeFileSync } = require('node:fs')
const { isMainThread } = require('node:worker_threads')

try {
  writeFileSync('/proc/thread-self/comm', isMainThread ? 'js-main' : 'js-worker')
} catch {
  // Only Linux has /proc, and only there CPU time is measured.
}
