// NODE_OPTIONS preloads this file in each thread of a measured Node process. The write must be synchronous, because an
// asynchronous write would run in another thread and name that thread.
const { writeFileSync } = require('node:fs')
const { isMainThread } = require('node:worker_threads')

try {
  writeFileSync('/proc/thread-self/comm', isMainThread ? 'js-main' : 'js-worker')
} catch {
  // Only Linux has /proc. On other systems, no CPU time is measured.
}
