import { parseArgs } from 'node:util'
import { partsOf } from '../demo/load.ts'
import { describeDevnet, summarizeDevnet } from './describe.ts'
import { lockFolder } from './folder-lock.ts'
import { type DevnetOptions, type DevnetPorts, startDevnet } from './index.ts'
import { accepts, freePort } from './ports.ts'
import { devnetDir, writeDevnetFiles } from './published-files.ts'

const help = `Usage: npm run devnet [-- options]

Runs a whole network on this machine until Ctrl-C: Temporal with its Web UI, two chains with the real Wormhole contracts
and a native bridge in both directions, and a guardian. Every start creates a new network with empty chains and an empty
Temporal.

  --block-time <seconds>       seconds between blocks, fractions allowed (default 1)
  --slots-in-an-epoch <n>      finality lags the head by twice this number of blocks (default 1)
  --guardians <1-19>           number of guardians (default 1)
  --keys <n>                   lanes per chain (default 2)
  --bridge <which>             both (default): Wormhole's token bridge and the native bridge; all: also NTT, an
                               Executor, and CCTP with a server in place of Circle's API
  --native <variant>           variant of the native bridge's contracts: fixed (default), strict (with the defects of
                               the deployed contracts), none
  --batch <n>                  maximum number of native completions in one transaction (default 1)
  --in-memory                  keep Temporal's data in memory instead of in a file in --dir
  --dir <folder>               folder for the devnet's files (default ${devnetDir}); a second devnet needs
                               a different folder
  --json                       print the running parts as one JSON object on stdout
  --help                       print this text
`

/** The well-known ports. Each port is used if it is free. */
const wellKnown = { temporal: 7233, ui: 8233, ethereum: 8545, bsc: 8546, spy: 7073, guardianApi: 7071, api: 8099 } as const

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'block-time': { type: 'string', default: '1' },
      'slots-in-an-epoch': { type: 'string', default: '1' },
      guardians: { type: 'string', default: '1' },
      keys: { type: 'string', default: '2' },
      bridge: { type: 'string', default: 'both' },
      native: { type: 'string', default: 'fixed' },
      batch: { type: 'string' },
      'in-memory': { type: 'boolean', default: false },
      dir: { type: 'string', default: devnetDir },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(help)
    return 0
  }
  const log = (line: string) => void process.stderr.write(`${line}\n`)
  const ended = interrupted()
  const all = isAll(values.bridge)
  const options = {
    blockTimeSeconds: number('--block-time', values['block-time'], 0.05, 3600),
    slotsInAnEpoch: number('--slots-in-an-epoch', values['slots-in-an-epoch'], 1, 32, true),
    guardians: number('--guardians', values.guardians, 1, 19, true),
    keysPerChain: number('--keys', values.keys, 1, 20, true),
    ...partsOf(all ? 'all' : 'both'),
    native: variant(values.native),
    receivers: true,
    batch: values.batch === undefined ? undefined : number('--batch', values.batch, 2, 100, true),
    inMemory: values['in-memory'],
    dir: values.dir,
    log,
  }
  const unlock = await lockFolder(values.dir)
  try {
    await keepUp({ ...options, ports: await choosePorts() }, values.json, ended)
  } finally {
    await unlock()
  }
  return 0
}

async function keepUp(
  options: DevnetOptions & { readonly dir: string; readonly log: (line: string) => void },
  json: boolean,
  ended: Promise<void>,
) {
  const devnet = await startDevnet(options)
  try {
    const files = await writeDevnetFiles(devnet, options.dir)
    process.stdout.write(json ? `${JSON.stringify(summarizeDevnet(devnet, files))}\n` : describeDevnet(devnet, files))
    await stayUntil(ended)
  } finally {
    options.log('Stopping the devnet…')
    await devnet.stop()
  }
}

/** Resolves at the first Ctrl-C or SIGTERM, even during the start. The second signal ends the process immediately. */
function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}

/** Waits for `end`. The timer keeps the process alive, because a pending promise does not. */
async function stayUntil(end: Promise<void>): Promise<void> {
  const alive = setInterval(() => {}, 60_000)
  await end
  clearInterval(alive)
}

async function choosePorts(): Promise<DevnetPorts> {
  const chosen = await Promise.all(
    Object.entries(wellKnown).map(async ([name, port]) => [name, (await accepts(port)) ? await freePort() : port] as const),
  )
  return Object.fromEntries(chosen)
}

function isAll(text: string): boolean {
  if (text === 'all' || text === 'both') return text === 'all'
  throw new Error(`--bridge takes both or all, not "${text}"`)
}

function variant(text: string): 'fixed' | 'strict' | false {
  if (text === 'none') return false
  if (text === 'fixed' || text === 'strict') return text
  throw new Error(`--native takes fixed, strict or none, not "${text}"`)
}

function number(option: string, text: string, least: number, most: number, whole = false): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= least && value <= most && (!whole || Number.isInteger(value))) return value
  throw new Error(`${option} takes a ${whole ? 'whole ' : ''}number from ${least} to ${most}, not "${text}"`)
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
