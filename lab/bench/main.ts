import { writeFile } from 'node:fs/promises'
import { lineChart } from './chart.ts'
import { floor } from './floor.ts'
import { growth } from './growth.ts'
import { growthTable } from './growth-table.ts'
import { idle } from './idle.ts'
import { idleTable } from './idle-table.ts'
import { latency } from './latency.ts'
import { latencyTable } from './latency-table.ts'
import { nativeOutage } from './native-outage.ts'
import { outageTable } from './outage-table.ts'
import { type BenchOptions, readOptions } from './options.ts'
import { peers, portageIsClean } from './peers/peers.ts'
import { peersTable } from './peers/peers-table.ts'
import { scale } from './scale.ts'
import { scaleTable } from './scale-table.ts'
import { startTable, startTimes } from './start.ts'
import { benchTable, floorTable } from './table.ts'
import { isClean } from './verdict.ts'
import { throughput, type ThroughputResult } from './throughput.ts'

/** Exit code if a program is missing. */
const notRun = 3

const options = readOptions(process.argv.slice(2))
const say = (line: string) => void process.stderr.write(`${line}\n`)
process.exitCode = await chosenRun()

function chosenRun(): Promise<number> {
  if (options.start) return startRun(options)
  if (options.outage !== undefined) return outageRun(options, options.outage)
  if (options.growth) return growthRun(options)
  if (options.latency) return latencyRun(options)
  if (options.idle) return idleRun(options)
  if (options.peers) return peersRun(options)
  if (options.scale) return scaleRun(options)
  return options.floor ? floorRun(options) : throughputRun(options)
}

async function throughputRun({ json, chart, ...rest }: BenchOptions): Promise<number> {
  const result = await throughput(rest, say)
  const { summary } = result
  if (chart !== undefined) await writeFile(chart, chartOf(result))
  process.stdout.write(`${json ? JSON.stringify(summary) : benchTable(summary)}\n`)
  return summary.delivered === summary.of && summary.lost + summary.duplicates === 0 ? 0 : 1
}

async function growthRun({ inFlight, keys, form, json }: BenchOptions): Promise<number> {
  const result = await growth({ inFlight, keys, form }, say)
  process.stdout.write(`${json ? JSON.stringify(result) : growthTable(result)}\n`)
  return result.rows.every(isClean) ? 0 : 1
}

async function latencyRun({ rate, seconds, keys, nodes, json }: BenchOptions): Promise<number> {
  const result = await latency({ rate, seconds, keys, nodes }, say)
  process.stdout.write(`${json ? JSON.stringify(result) : latencyTable(result)}\n`)
  return isClean(result) ? 0 : 1
}

async function idleRun({ seconds, json }: BenchOptions): Promise<number> {
  const result = await idle({ seconds }, say)
  process.stdout.write(`${json ? JSON.stringify(result) : idleTable(result)}\n`)
  return 0
}

async function scaleRun({ processes, percent, keys, transfers, json }: BenchOptions): Promise<number> {
  const result = await scale({ processes, percent, keys, transfers }, say)
  process.stdout.write(`${json ? JSON.stringify(result) : scaleTable(result)}\n`)
  return result.rows.every(isClean) ? 0 : 1
}

async function peersRun({ transfers, keys, rounds, json }: BenchOptions): Promise<number> {
  const result = await peers({ transfers, keys, rounds }, say)
  if ('why' in result) {
    say(`NOT RUN: peers: ${result.why}`)
    return notRun
  }
  process.stdout.write(`${json ? JSON.stringify(result) : peersTable(result)}\n`)
  return portageIsClean(result) ? 0 : 1
}

async function floorRun({ json, transfers, rounds }: BenchOptions): Promise<number> {
  const summary = await floor({ transfers, rounds }, say)
  process.stdout.write(`${json ? JSON.stringify(summary) : floorTable(summary)}\n`)
  return 0
}

async function startRun({ json, rounds }: BenchOptions): Promise<number> {
  const summary = await startTimes(rounds, say)
  process.stdout.write(`${json ? JSON.stringify(summary) : startTable(summary)}\n`)
  return 0
}

async function outageRun({ keys, batch, maxOpen, json }: BenchOptions, transfers: number): Promise<number> {
  const result = await nativeOutage({ transfers, keys, batch, maxOpen }, say)
  process.stdout.write(`${json ? JSON.stringify(result) : outageTable(result)}\n`)
  return isClean(result) ? 0 : 1
}

function chartOf({ closes, summary }: ThroughputResult): string {
  return lineChart(`Closes per second, ${summary.transfers} of each, form ${summary.form}`, [
    { name: 'Portage', color: '#d9480f', values: closes.portage },
    { name: 'one-activity workflows', color: '#1971c2', values: closes.oneActivity },
  ])
}
