import { startDevnet } from '../devnet/index.ts'
import { backlog } from './backlog.ts'
import { nativeOutage } from './native-outage.ts'
import { yardstick } from './yardsticks.ts'
import { Client, Connection } from '@temporalio/client'
import { Command } from 'commander'

const help = `
Measures, in one run on one Temporal server, how many backlogged transfers Portage delivers per second over 4 keys,
beside the rate of empty workflows and of workflows with one empty activity. Only the ratios mean something: machines differ.

With --native-outage <n> something else: so many transfers of the native bridge, half in each direction, are initiated while Portage
is down; then it starts, finds them and delivers them. Time, RPC calls, state transitions and memory are printed.

Examples:
  npm run bench -- --quick
  npm run bench -- --native-outage 5000 --json
  npm run bench -- --native-outage 5000 --batch 20`

interface Options {
  readonly quick: boolean
  readonly transfers: number
  readonly keys: number
  readonly rounds: number
  readonly json: boolean
  readonly nativeOutage?: number
  readonly batch?: number
  readonly maxOpen: number
}

const options = new Command('bench')
  .option('--quick', 'one round', false)
  .option('--transfers <n>', 'transfers (and yardstick workflows) per round', Number, 400)
  .option('--keys <k>', 'keys of the target chain', Number, 4)
  .option('--rounds <n>', 'rounds; the median counts', Number, 3)
  .option('--native-outage <n>', 'native transfers that wait when Portage starts; instead of all else', Number)
  .option('--batch <n>', 'with --native-outage: most completions in one transaction (default: each has its own)', Number)
  .option('--max-open <n>', 'with --native-outage: most open transfers per direction', Number, 360)
  .option('--json', 'one JSON object on stdout', false)
  .addHelpText('after', help)
  .parse()
  .opts<Options>()

const { json } = options
const say = (line: string) => void process.stderr.write(`${line}\n`)
process.exitCode = options.nativeOutage === undefined ? await throughput() : await outage(options.nativeOutage)

async function outage(transfers: number): Promise<number> {
  const { keys, batch, maxOpen } = options
  const { rpcCalls, ...figures } = await nativeOutage({ transfers, keys, batch, maxOpen }, say)
  const rows = { ...figures, rpcCallsPerTransfer: rpcCalls.perTransfer, rpcCallsPerQuietBlock: rpcCalls.perQuietBlock }
  process.stdout.write(json ? `${JSON.stringify(rows)}\n` : `${text(rows)}\n`)
  const { delivered, lost, duplicates, nonceHoles, foreignCompletions } = figures
  return delivered === transfers && lost + duplicates + nonceHoles + foreignCompletions === 0 ? 0 : 1
}

async function throughput(): Promise<number> {
  const { transfers, keys } = options
  const rounds = options.quick ? 1 : options.rounds
  const devnet = await startDevnet({ keysPerChain: keys, ui: false, log: say })
  try {
    const connection = await Connection.connect({ address: devnet.temporal.address })
    const client = new Client({ connection })
    const results = []
    for (let round = 0; round < rounds; round++) {
      // In turn within one round, so that a machine whose speed drifts is as kind to each.
      const oneActivity = await yardstick(client, devnet.temporal.address, 'oneActivity', transfers)
      const portage = await backlog(devnet, client, transfers)
      const empty = await yardstick(client, devnet.temporal.address, 'empty', transfers)
      results.push({ portage, oneActivity, empty })
      process.stderr.write(
        `round ${round + 1}: ${portage.perSecond.toFixed(1)} transfers/s, one-activity ${oneActivity.toFixed(1)}/s, empty ${empty.toFixed(1)}/s\n`,
      )
    }
    await connection.close()
    const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
    const last = results.at(-1)?.portage
    const summary = {
      transfersPerSecond: round1(median(results.map(({ portage }) => portage.perSecond))),
      oneActivityPerSecond: round1(median(results.map(({ oneActivity }) => oneActivity))),
      emptyPerSecond: round1(median(results.map(({ empty }) => empty))),
      ratioToOneActivity: round2(median(results.map(({ portage, oneActivity }) => portage.perSecond / oneActivity))),
      ratioToEmpty: round2(median(results.map(({ portage, empty }) => portage.perSecond / empty))),
      delivered: results.reduce((sum, { portage }) => sum + portage.delivered, 0),
      of: rounds * transfers,
      stateTransitions: last?.stateTransitions,
      historyEvents: last?.historyEvents,
      maxPerLanePerBlock: last?.maxPerLanePerBlock,
    }
    process.stdout.write(json ? `${JSON.stringify(summary)}\n` : `${text(summary)}\n`)
    return summary.delivered === summary.of ? 0 : 1
  } finally {
    await devnet.stop()
  }
}

function text(summary: Readonly<Record<string, number | undefined>>): string {
  return Object.entries(summary)
    .map(([name, value]) => `  ${name.padEnd(24)}${value ?? '?'}`)
    .join('\n')
}

function round1(value: number): number {
  return Math.round(value * 10) / 10
}

function round2(value: number): number {
  return Math.round(value * 100) / 100
}
