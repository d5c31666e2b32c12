// Preload this into a measured process (NODE_OPTIONS=--require). Node runs it in the main thread and in each worker
// thread. It gives each thread one of the names in proc-stat.ts, which the kernel then shows. It works because
// synchronous file calls run in the calling thread.
const { writeFileSync } = require('node:fs')
const { isMainThread } = require('node:worker_threads')

try {
  writeFileSync('/proc/thread-self/comm', isMainThread ? 'js-main' : 'js-worker')
} catch {
  // On other systems than Linux, CPU time is not measured.
}
