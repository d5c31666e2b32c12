import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { startDevnet } from '../devnet/index.ts'
import { type FloodOptions, type FloodSummary, isClean, mostRatio, runFlood } from './run.ts'

const floodExit = { notClean: 1, usage: 2 } as const

const help = `
Strangers without a token flood the API of a process that delivers honest transfers: with requests to every route, forged
tokens, pipelined and slow requests, long paths and large bodies. Before the flood, the same number of transfers is
measured without strangers.

Examples:
  npm run flood
  npm run flood -- --seconds 600 --json

Exit code: 0 if no transfer took more than ${mostRatio} times as long as the slowest transfer without strangers, the
process stayed healthy, and its memory did not grow; ${floodExit.notClean} otherwise; ${floodExit.usage} for wrong usage.`

const options = new Command('flood')
  .description('Floods the API with requests without a token while honest transfers are delivered.')
  .option('--seconds <s>', 'duration of each of the two phases, seconds', whole, 60)
  .option('--connections <n>', 'number of connections of the strangers, at most 300', whole, 100)
  .option('--rate <n>', 'requests per second of the strangers', whole, 500)
  .option('--transfers <n>', 'honest transfers per second', whole, 2)
  .option('--json', 'print only the summary, as one JSON object, on stdout', false)
  .addHelpText('after', help)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : floodExit.usage))
  .parse()
  .opts<FloodOptions & { readonly json: boolean }>()

process.exitCode = await flood(options)

async function flood({ json, ...run }: typeof options): Promise<number> {
  const dir = join(process.cwd(), '.portage', 'flood', String(Date.now()))
  await mkdir(dir, { recursive: true })
  const say = (line: string) => void process.stderr.write(`${line}\n`)
  say('Starting Temporal, two chains with the contracts of both bridges, and a guardian…')
  const devnet = await startDevnet({ keysPerChain: 2, native: 'fixed', dir, ui: false, log: say })
  let clean = false
  try {
    const summary = await runFlood(devnet, run, say)
    clean = isClean(summary)
    process.stdout.write(json ? `${JSON.stringify({ clean, ...summary })}\n` : `${describe(summary)}\n${clean ? 'clean' : 'NOT CLEAN'}\n`)
    return clean ? 0 : floodExit.notClean
  } finally {
    await devnet.stop()
    if (clean) await rm(dir, { recursive: true, force: true })
    else say(`Logs: ${dir}`)
  }
}

function describe({ quiet, flooded, ratio, memory, healthy, strangers }: FloodSummary): string {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
  return [
    `without strangers: ${quiet.transfers} transfers, median ${seconds(quiet.median)}, slowest ${seconds(quiet.slowest)}`,
    `with strangers:    ${flooded.transfers} transfers, median ${seconds(flooded.median)}, slowest ${seconds(flooded.slowest)} (${ratio} times)`,
    `memory: ${memory.before} MiB before; minimum ${memory.firstHalf} MiB in the first half, ${memory.secondHalf} MiB in the second; maximum ${memory.most} MiB`,
    `health: ${healthy ? 'always answered within a second' : 'NOT always answered within a second'}`,
    `strangers: ${JSON.stringify(strangers)}`,
  ].join('\n')
}

function whole(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('must be a whole number of at least 1')
  return Number(text)
}
