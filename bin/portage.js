#!/usr/bin/env node
// tsx runs the TypeScript sources, found from this file and not from the working directory.
import { register } from 'tsx/esm/api'

// The reader of a pipe has closed it (`portage transfer list | head`).
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})
register()
const { main } = await import(new URL('../cli/main.ts', import.meta.url).href)
process.exitCode = await main(process.argv.slice(2), process)
// The command has ended. A start that failed half-way may have left handles open that would keep the process alive (Workers that never ran).
setTimeout(() => process.exit(), 2_000).unref()
