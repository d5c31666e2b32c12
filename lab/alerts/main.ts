/**
 * Causes one fault after another while a real Prometheus scrapes the processes. `--scale N` divides the times in the
 * rules of deploy/prometheus (default: 60). Passes if each fault fires its own alert in time, fires no other alert, and
 * the alert resolves once the fault ends. Options: `--only <fault>` (repeatable), `--list`, `--json`. Prints NOT RUN if
 * Prometheus is missing.
 */
import { parseArgs } from 'node:util'
import { findPrometheus } from './prometheus.ts'
import { isClean, runAlerts, tell } from './run.ts'
import { scenarios } from './scenarios.ts'

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      scale: { type: 'string', default: '60' },
      only: { type: 'string', multiple: true },
      list: { type: 'boolean' },
      json: { type: 'boolean' },
    },
  })
  const scale = Number(values.scale)
  if (!(scale >= 1)) throw new Error(`--scale ${values.scale} is not a number of 1 or more`)
  const unknown = (values.only ?? []).filter((one) => !scenarios.some(({ fault }) => fault === one))
  if (unknown.length > 0) throw new Error(`unknown fault: ${unknown.join(', ')} (--list prints the names)`)
  if (values.list) {
    for (const { fault, alert } of scenarios) console.log(`${fault}: ${alert}`)
    return 0
  }
  const found = await findPrometheus(process.env)
  if ('why' in found) {
    console.error(`NOT RUN: alerts under a real Prometheus: ${found.why}`)
    return 0
  }
  const summary = await runAlerts(found.path, { scale, only: values.only }, (line) => console.error(line))
  const clean = isClean(summary)
  console.log(
    values.json ? JSON.stringify({ clean, ...summary }) : [...summary.results.map(tell), clean ? 'clean' : 'NOT CLEAN'].join('\n'),
  )
  return clean ? 0 : 1
}

process.exitCode = await main()
