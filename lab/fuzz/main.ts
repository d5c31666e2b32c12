import { pathToFileURL } from 'node:url'
import { Command, InvalidArgumentError } from 'commander'
import { type Finding, fuzz, type FuzzTarget } from './fuzz.ts'
import { networkTargets, startNetworkTargets } from './network.ts'
import { targets as readers } from './targets.ts'

export interface FuzzOptions {
  readonly minutes: number
  readonly seed: number
  readonly only: readonly string[]
  readonly json: boolean
}

/** Number of inputs per seed. Network targets get fewer inputs, because each input needs a connection. */
const perTurn = 500
const perTurnOnNetwork = 50

const allNames = [...readers.map(({ name }) => name), ...networkTargets]

const help = `
Gives every reader of outside input nearly valid data and junk, in turns, until the time is over. A reader may refuse an
input only with a typed error, and must not take long. Findings are shrunk. Add them to lab/fuzz/kept.json, whose inputs
the tests repeat.

Targets: ${allNames.join(', ')}

Examples:
  npm run fuzz -- --minutes 10
  npm run fuzz -- --minutes 1 --seed 7 --only vaa,config --json

Exit code: 0 without findings, 1 with findings, 2 for wrong usage.`

export function parseOptions(args: readonly string[]): FuzzOptions {
  return new Command('fuzz')
    .description('Fuzzes the readers of outside input.')
    .option('--minutes <m>', 'duration, minutes', number, 1)
    .option('--seed <n>', 'seed of the inputs', (text) => Math.trunc(number(text)), Date.now() % 1_000_000)
    .option('--only <targets>', 'only these targets, separated by commas', names, allNames)
    .option('--json', 'print only the result, as one JSON object, on stdout', false)
    .addHelpText('after', help)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
    .parse(args, { from: 'user' })
    .opts<FuzzOptions>()
}

export async function runFuzz(options: FuzzOptions): Promise<number> {
  const network = options.only.some((name) => networkTargets.includes(name)) ? await startNetworkTargets() : undefined
  try {
    return await runTargets(options, [...readers, ...(network?.targets ?? [])])
  } finally {
    await network?.stop()
  }
}

async function runTargets({ minutes, seed, only, json }: FuzzOptions, targets: readonly FuzzTarget[]): Promise<number> {
  const until = Date.now() + minutes * 60_000
  const chosen = targets.filter(({ name }) => only.includes(name))
  const inputs: Record<string, number> = {}
  const findings: Finding[] = []
  for (let turn = 0; Date.now() < until && findings.length < chosen.length; turn++) {
    for (const target of chosen) {
      if (Date.now() >= until || findings.some((one) => one.target === target.name)) continue
      const runs = networkTargets.includes(target.name) ? perTurnOnNetwork : perTurn
      const found = await fuzz(target, seed + turn, runs, until)
      inputs[target.name] = (inputs[target.name] ?? 0) + runs
      if (found) findings.push(found)
    }
  }
  const total = Object.values(inputs).reduce((sum, count) => sum + count, 0)
  if (json) process.stdout.write(`${JSON.stringify({ seed, minutes, inputs, total, findings })}\n`)
  else {
    for (const { target, seed: at, input, error } of findings)
      process.stdout.write(`${target} (seed ${at})\n  input ${JSON.stringify(input)}\n  ${error.split('\n').slice(0, 6).join('\n  ')}\n`)
    process.stdout.write(`seed ${seed}: about ${total} inputs for ${chosen.length} readers, ${findings.length} findings\n`)
  }
  return findings.length === 0 ? 0 : 1
}

function number(text: string): number {
  if (/^[0-9]{1,6}(\.[0-9]{1,3})?$/.test(text) && Number(text) > 0) return Number(text)
  throw new InvalidArgumentError('must be a number above 0')
}

function names(text: string): string[] {
  const given = text.split(',')
  const unknown = given.find((name) => !allNames.includes(name))
  if (unknown === undefined) return given
  throw new InvalidArgumentError(`there is no ${unknown}; targets: ${allNames.join(', ')}`)
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await runFuzz(parseOptions(process.argv.slice(2)))
}
