import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Devnet } from '../devnet/index.ts'

export interface LogFindings {
  /**
   * Workflow tasks that failed to replay (TMPRL1100) or hung (TMPRL1101). Failed replays do not count once Temporal has
   * been set back, because processes then remember events that Temporal has lost.
   */
  readonly brokenTasks: number
  /** Number of lanes whose private key is in a log. */
  readonly loggedKeys: number
}

/**
 * Findings in the logs of all processes. `setBackAt`: when Temporal was first set back, ms since the epoch, or Infinity
 * if it was not.
 */
export async function readLogs({ dir, lanes }: Devnet, setBackAt: number): Promise<LogFindings> {
  const files = (await readdir(dir)).filter((name) => /^portage-.*\.log$/.test(name))
  const logs = await Promise.all(files.map((name) => readFile(join(dir, name), 'utf8')))
  const keys = lanes.map(({ privateKey }) => privateKey.slice(2).toLowerCase())
  return {
    brokenTasks: logs.flatMap((log) => log.split('\n')).filter((line) => isBroken(line, setBackAt)).length,
    loggedKeys: keys.filter((key) => logs.some((log) => log.toLowerCase().includes(key))).length,
  }
}

function isBroken(line: string, setBackAt: number): boolean {
  if (line.includes('TMPRL1101')) return true
  const [at] = /\d{4}-\d\d-\d\dT[\d:]+\.\d+Z/.exec(line) ?? []
  return line.includes('TMPRL1100') && !(at !== undefined && Date.parse(at) >= setBackAt)
}
