import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startDevnet } from '../devnet/index.ts'
import { postgresServerParts } from '../devnet/temporal/on-postgres.ts'
import { startPostgresTemporal } from '../devnet/temporal/postgres-temporal.ts'
import { drillExit, type DrillOptions, parseOptions } from './options.ts'
import { drillDevnet, runDrill } from './run.ts'
import { describe, isClean } from './summary.ts'

export async function drill(options: DrillOptions): Promise<number> {
  const parts = await postgresServerParts()
  if ('why' in parts) {
    process.stderr.write(`NOT RUN: ${parts.why}\n`)
    return drillExit.notRun
  }
  const dir = join(process.cwd(), '.portage', 'drill', `${options.case}-${Date.now()}`)
  await mkdir(dir, { recursive: true })
  const log = createWriteStream(join(dir, 'drill.log'))
  const say = (line: string) => {
    log.write(`${line}\n`)
    process.stderr.write(`${line}\n`)
  }
  let clean = false
  say('Starting Temporal on PostgreSQL, and two chains with the contracts of both bridges, and a guardian…')
  const temporal = await startPostgresTemporal({ parts, dir })
  try {
    const devnet = await startDevnet({ ...drillDevnet, temporal, dir, log: say })
    try {
      const summary = await runDrill(devnet, options, say)
      process.stdout.write(options.json ? `${JSON.stringify(summary)}\n` : `${describe(summary)}\n`)
      clean = isClean(summary)
      return clean ? 0 : drillExit.notClean
    } finally {
      await devnet.stop()
    }
  } finally {
    await temporal.stop()
    log.end()
    if (clean && !options.keep) await rm(dir, { recursive: true, force: true })
    else process.stderr.write(`Logs, configs and the dump: ${dir}\n`)
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await drill(parseOptions(process.argv.slice(2)))
}
