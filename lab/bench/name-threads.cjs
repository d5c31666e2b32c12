// NODE_OPTIONS preloads this file in each thread of a measured Node process. An asynchronous write would run in, and
// name, another thread.
const { writeFileSync } = require('node:fs')
const { isMainThread } = require('node:worker_threads')

try {
  writeFileSync('/proc/thread-self/comm', isMainThread ? 'js-main' : 'js-worker')
} catch {
  // Only Linux has /proc. On other systems, no CPU time is measured.
}
