// NODE_OPTIONS preloads this file in each thread of a Node process of the soak run. Every few minutes, each thread
// collects its garbage, and writes the size of its heap to a file. Resident memory cannot show a small leak, because it
// includes garbage that V8 has not collected yet.
const { renameSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { setFlagsFromString } = require('node:v8')
const { runInNewContext } = require('node:vm')
const { threadId } = require('node:worker_threads')

const { PORTAGE_SOAK_HEAPS: folder, PORTAGE_SOAK_HEAP_MS: everyMs } = process.env
if (folder && everyMs) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  setInterval(() => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    const file = join(folder, `${process.pid}-${threadId}`)
    try {
      writeFileSync(`${file}.new`, String(heapUsed + external))
      renameSync(`${file}.new`, file)
    } catch {
      // The run has ended and removed its folder.
    }
  }, Number(everyMs)).unref()
}
