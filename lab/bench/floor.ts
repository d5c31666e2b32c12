import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { type FloorCandidate, floorCandidates, type NotRun } from './floor-servers.ts'
import type { Measurement } from './measure.ts'
import { round } from './statistics.ts'
import { cpuOf, kindOf, type KindSummary } from './summary.ts'
import { type Yardstick, yardstick } from './yardsticks.ts'

export interface FloorOptions {
  readonly transfers: number
  readonly rounds: number
}

export interface FloorRow extends Readonly<Record<Yardstick, KindSummary>> {
  readonly server: string
}

export interface FloorSummary {
  readonly workflows: number
  readonly rounds: number
  readonly machine: { readonly cpus: number; readonly model: string; readonly load: readonly number[] }
  readonly servers: readonly FloorRow[]
  readonly notRun: readonly NotRun[]
}

/**
 * Number of workflows before the measurement. These workflows open connections, fill caches and make V8 compile the
 * code.
 */
const warmUp = 50

/** Measures empty and one-activity workflows on each server. Servers take turns within a round. */
export async function floor({ transfers: count, rounds }: FloorOptions, say: (line: string) => void): Promise<FloorSummary> {
  const { candidates, notRun } = await floorCandidates()
  for (const { name, why } of notRun) say(`NOT RUN: ${name}: ${why}`)
  const all = new Map<string, Record<Yardstick, Measurement>[]>()
  const load: number[] = []
  for (let number = 1; number <= rounds; number++)
    for (const candidate of candidates) {
      load.push(round(loadavg()[0] ?? 0))
      const one = await measureServer(candidate, count)
      all.set(candidate.name, [...(all.get(candidate.name) ?? []), one])
      say(`round ${number}, ${candidate.name}: empty ${tell(one.empty)}; one activity ${tell(one.oneActivity)}`)
    }
  return {
    ...{ workflows: count, rounds, notRun },
    machine: { cpus: cpus().length, model: cpus()[0]?.model ?? 'unknown', load },
    servers: [...all].map(([server, each]) => ({
      server,
      empty: kindOf(each.map(({ empty }) => empty)),
      oneActivity: kindOf(each.map(({ oneActivity }) => oneActivity)),
    })),
  }
}

async function measureServer(candidate: FloorCandidate, count: number): Promise<Record<Yardstick, Measurement>> {
  const dir = await mkdtemp(join(tmpdir(), 'portage-floor-'))
  try {
    const { address, measured, stop } = await candidate.start(dir)
    try {
      const connection = await Connection.connect({ address })
      const client = new Client({ connection })
      const others = { ...measured, driver: [process.pid] }
      await yardstick(client, address, 'oneActivity', { count: warmUp, others })
      const empty = await yardstick(client, address, 'empty', { count, others })
      const oneActivity = await yardstick(client, address, 'oneActivity', { count, others })
      await connection.close()
      return { empty, oneActivity }
    } finally {
      await stop()
    }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

function tell(one: Measurement): string {
  return `${one.perSecond.toFixed(1)}/s, ${cpuOf(one).toFixed(1)} ms of CPU`
}
