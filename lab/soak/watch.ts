import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '@temporalio/client'
import { parseStat } from '../bench/proc-stat.ts'
import type { FaultTargets } from '../faults/fault-targets.ts'
import type { Limit, Sample } from './slope.ts'

export interface Series extends Limit {
  readonly name: string
  readonly samples: Sample[]
}

/** Time between two collections of garbage, ms. A collection pauses a thread for about a tenth of a second. */
export const heapEveryMs = 120_000

/** Limits of each kind of series. */
const limits = {
  'memory, MiB': { part: 0.1, least: 16 },
  'heap after a collection, MiB': { part: 0.1, least: 8 },
  'open files': { part: 0.1, least: 8 },
  'data folder, KiB': { part: 0.1, least: 64 },
  'longest open history, events': { part: 0.1, least: 1_000 },
  'open transfers': { part: 0.1, least: 20 },
  'database rows per kept run': { part: 0.1, least: 1 },
  'database KiB per kept run': { part: 0.1, least: 1 },
} as const satisfies Record<string, Limit>
type Kind = keyof typeof limits

/**
 * Reads all series every `everyMs`. Skips a series that cannot be read because of a fault.
 * @param heaps folder in which the processes' threads write their heap sizes (`heap-after-gc.cjs`).
 */
export function startWatch(
  { client, fleet, ground, devnet }: FaultTargets,
  { everyMs, heaps }: { readonly everyMs: number; readonly heaps: string },
  keep: (reading: object) => void,
) {
  const series: Series[] = []
  const started = Date.now()
  const note = (kind: Kind, value: number, of?: string) => {
    const name = of === undefined ? kind : `${kind}: ${of}`
    let one = series.find((known) => known.name === name)
    if (!one) series.push((one = { name, samples: [], ...limits[kind] }))
    const sample = { at: (Date.now() - started) / 1_000, value }
    one.samples.push(sample)
    keep({ name, ...sample })
  }
  const look = async () => {
    const processes = fleet.alive.map(async ({ pid }) => {
      const name = fleet.byPid.get(pid)
      if (name === undefined || !fleet.isSpared(name)) return
      note('memory, MiB', await memoryOf(pid), name)
      const heap = await heapOf(heaps, pid)
      if (heap !== undefined) note('heap after a collection, MiB', heap, name)
      note('open files', (await readdir(`/proc/${pid}/fd`)).length, name)
      note('data folder, KiB', (await bytesBelow(join(devnet.dir, name))) / 1024, name)
    })
    const temporal = async () => {
      note('longest open history, events', await longestHistory(client))
      note('open transfers', (await client.workflow.count("WorkflowType = 'transfer' AND ExecutionStatus = 'Running'")).count)
    }
    const database = async () => {
      const query = ground?.server.postgres.query
      if (!query) return
      const { count } = await client.workflow.count()
      note('database rows per kept run', (await rowsOf(query)) / Math.max(1, count))
      const bytes = await query('temporal', "SELECT pg_database_size('temporal') + pg_database_size('temporal_visibility')")
      note('database KiB per kept run', Number(bytes) / 1024 / Math.max(1, count))
    }
    await Promise.allSettled([...processes, temporal(), database()])
  }
  let looking = Promise.resolve()
  const timer = setInterval(() => {
    looking = looking.then(look)
  }, everyMs)
  return {
    series,
    async stop(): Promise<void> {
      clearInterval(timer)
      await looking
    },
  }
}

async function memoryOf(pid: number): Promise<number> {
  return parseStat(await readFile(`/proc/${pid}/stat`, 'utf8')).rss / 1_048_576
}

/** Threads of a process that have ended keep their file, so a file older than three collections does not count. */
async function heapOf(folder: string, pid: number): Promise<number | undefined> {
  const newest = Date.now() - 3 * heapEveryMs
  const names = (await readdir(folder)).filter((name) => name.startsWith(`${pid}-`) && !name.endsWith('.new'))
  const sizes = await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name)
      return (await stat(file)).mtimeMs < newest ? 0 : Number(await readFile(file, 'utf8'))
    }),
  )
  const sum = sizes.reduce((one, other) => one + other, 0)
  return sum === 0 ? undefined : sum / 1_048_576
}

async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile())
  const sizes = files.map(({ parentPath, name }) => stat(join(parentPath, name)).then(({ size }) => size))
  return (await Promise.allSettled(sizes)).reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value : 0), 0)
}

/**
 * Number of events in the longest history of a workflow that is not a transfer. These workflows run without end, and
 * continue as new.
 */
async function longestHistory(client: Client): Promise<number> {
  let longest = 0
  for await (const { workflowId } of client.workflow.list({ query: "WorkflowType != 'transfer' AND ExecutionStatus = 'Running'" }))
    longest = Math.max(longest, (await client.workflow.getHandle(workflowId).describe()).historyLength)
  return longest
}

async function rowsOf(query: (database: string, statement: string) => Promise<string>): Promise<number> {
  let sum = 0
  for (const database of ['temporal', 'temporal_visibility']) {
    const tables = await query(database, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    const counts = tables.split('\n').map((table) => `(SELECT count(*) FROM ${table})`)
    sum += Number(await query(database, `SELECT ${counts.join(' + ')}`))
  }
  return sum
}
