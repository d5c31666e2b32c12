import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Devnet } from '../index.ts'

/** What must not be in any process's log. */
export interface LogFindings {
  /** Workflow tasks that did not replay (Temporal SDK, TMPRL1100), and workflow code that hung (TMPRL1101). */
  readonly brokenTasks: number
  /** Private keys of lanes. */
  readonly keysTold: number
}

/** Reads the logs of all Portage processes in the devnet's folder. */
export async function readLogs({ dir, lanes }: Devnet): Promise<LogFindings> {
  const files = (await readdir(dir)).filter((name) => /^portage-.*\.log$/.test(name))
  const logs = await Promise.all(files.map((name) => readFile(join(dir, name), 'utf8')))
  const keys = lanes.map(({ privateKey }) => privateKey.slice(2).toLowerCase())
  return {
    brokenTasks: logs.reduce((sum, log) => sum + (log.match(/TMPRL110[01]/g)?.length ?? 0), 0),
    keysTold: keys.filter((key) => logs.some((log) => log.toLowerCase().includes(key))).length,
  }
}
