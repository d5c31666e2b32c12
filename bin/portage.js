#!/usr/bin/env node
// Runs the compiled sources, or, where they cannot be compiled, tsx runs them as they are. Both are found from this file and not from the working directory.
import { createRequire } from 'node:module'
import { compiledMain } from './compiled.js'

// The reader of a pipe has closed it (`portage transfer list | head`).
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})
process.setSourceMapsEnabled(true)
const compiled = await compiledMain()
if (!compiled) (await import('tsx/esm/api')).register()
const { main } = compiled ? createRequire(import.meta.url)(compiled) : await import('../cli/main.ts')
process.exitCode = await main(process.argv.slice(2), process)
// The command has ended. A start that failed half-way may have left handles open that would keep the process alive (Workers that never ran).
setTimeout(() => process.exit(), 2_000).unref()
