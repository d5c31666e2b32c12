import { loadavg } from 'node:os'
import { Client, Connection } from '@temporalio/client'
import { startDevnet } from '../devnet/index.ts'
import { backlog } from './backlog.ts'
import type { Measured } from './cpu-meter.ts'
import type { Form } from './form.ts'
import { historyShape } from './history-shape.ts'
import type { Measurement } from './measure.ts'
import { type BenchSummary, cpuOf, type Round, summarize } from './summary.ts'
import { closesPerSecond } from './statistics.ts'
import { yardstick } from './yardsticks.ts'

export interface ThroughputOptions {
  readonly transfers: number
  readonly keys: number
  readonly rounds: number
  readonly form: Form
}

/** `closes`: number of closes in each second of the last round, for the chart. */
export interface ThroughputResult {
  readonly summary: BenchSummary
  readonly closes: { readonly portage: readonly number[]; readonly oneActivity: readonly number[] }
}

const looked = 20

/** Runs all rounds on one devnet. Throws Error if the workflows of a round do not all close. */
export async function throughput(
  { transfers, keys, rounds, form }: ThroughputOptions,
  say: (line: string) => void,
): Promise<ThroughputResult> {
  const devnet = await startDevnet({ keysPerChain: keys, ui: false, log: say })
  try {
    const { address, pid } = devnet.temporal
    const connection = await Connection.connect({ address })
    const client = new Client({ connection })
    const others: Measured = {
      temporal: [pid],
      anvils: Object.values(devnet.chains).map(({ anvil }) => anvil.pid),
      driver: [process.pid],
    }
    const done: Round[] = []
    for (let number = 1; number <= rounds; number++) {
      const load = loadavg()[0] ?? 0
      const oneActivity = await yardstick(client, address, 'oneActivity', { count: transfers, others })
      const portage = await backlog(devnet, client, { count: transfers, form, others })
      const empty = await yardstick(client, address, 'empty', { count: transfers, others })
      done.push({ oneActivity, portage, empty, load })
      say(`round ${number}: Portage ${tell(portage)}; one activity ${tell(oneActivity)}; empty ${tell(empty)}`)
    }
    const last = done.at(-1)
    const shape = await historyShape(client, last?.portage.closed.slice(0, looked).map(({ workflowId }) => workflowId) ?? [])
    await connection.close()
    return {
      summary: summarize(done, { form, keys, shape }),
      closes: { portage: perSecondOf(last?.portage), oneActivity: perSecondOf(last?.oneActivity) },
    }
  } finally {
    await devnet.stop()
  }
}

function tell(one: Measurement): string {
  return `${one.perSecond.toFixed(1)}/s (sustained ${one.sustainedPerSecond.toFixed(1)}), ${cpuOf(one).toFixed(1)} ms of CPU`
}

function perSecondOf(one: Measurement | undefined): number[] {
  return one
    ? closesPerSecond(
        one.closed.map(({ closedAt }) => closedAt),
        one.begin,
      )
    : []
}
