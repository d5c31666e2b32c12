#!/usr/bin/env node
// Runs the compiled sources or, if they cannot be compiled, the sources with tsx.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { compiledFolder } from './compiled.js'

/** Delay (ms) before V8's compiled code is stored, because the first transfers need more code than the start. */
const settledMs = 10_000

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
// The command has ended. After a start that failed, open handles (Workers that never ran) could keep the process alive.
setTimeout(() => process.exit(), 2_000).unref()
