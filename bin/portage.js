#!/usr/bin/env node
// Runs the compiled sources, or, where they cannot be compiled, tsx runs them as they are. Both are found from this file and not from the working directory.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { compiledFolder } from './compiled.js'

/** When what V8 has compiled is written down: after the first transfers, which need more than the start. */
const settledMs = 10_000

// The reader of a pipe has closed it (`portage transfer list | head`).
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

async function fromSources() {
  process.setSourceMapsEnabled(true)
  const { register } = await import('tsx/esm/api')
  register()
  return import('../cli/main.ts')
}

function fromCompiled(folder) {
  const { loadMain, keepCode } = createRequire(import.meta.url)(join(folder, 'load.cjs'))
  const runs = process.argv.includes('run')
  if (runs) setTimeout(() => keepCode(), settledMs).unref()
  process.once('exit', () => keepCode())
  return loadMain(runs ? 'run' : 'command')
}

const folder = await compiledFolder()
const { main } = folder === undefined ? await fromSources() : fromCompiled(folder)
process.exitCode = await main(process.argv.slice(2), process)
// The command has ended. A start that failed half-way may have left handles open that would keep the process alive (Workers that never ran).
setTimeout(() => process.exit(), 2_000).unref()
