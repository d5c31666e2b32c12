import { Command, InvalidArgumentError, Option } from 'commander'
import { type BridgeChoice, bridgeChoices } from '../demo/load.ts'
import { type FaultKind, faultKinds } from './plan.ts'

export interface FaultOptions {
  readonly seed: string
  readonly transfers: number
  readonly bridge: BridgeChoice
  /** Most native completions in one transaction; absent: one each. */
  readonly batch?: number
  /** Seconds that faults go on for. */
  readonly duration: number
  readonly only: readonly FaultKind[]
  /** Seconds without any progress after which the rest counts as stuck. */
  readonly stuckAfter: number
  readonly processes: number
  /** Mean ms between two faults. */
  readonly pause: number
  readonly window: number
  readonly keep: boolean
  readonly json: boolean
  readonly plan: boolean
}

const help = `
Sends users' transfers over two chains with two keys each and three nodes each, while everything goes wrong at random: nodes that
hang, lie, lag, refuse and hide logs, forks down to finality, spikes, evictions, stopped chains, drained and stolen keys, a spy that drops its
readers, workflows terminated and reset, Temporal wiped and restored from a copy, processes killed. Then the faults end, everything must drain by itself, and an independent checker judges.

Kinds: ${faultKinds.join(', ')}

Examples:
  npm run faults -- --seed 7 --transfers 100
  npm run faults -- --seed 7 --transfers 500 --json > summary.json
  npm run faults -- --seed 7 --only fork,reorg,lane-reset
  npm run faults -- --seed 7 --bridge native --batch 20
  npm run faults -- --seed 7 --plan

The same seed, bridge, duration, kinds and pause give the same plan. Exit code: 0 if every transfer was delivered exactly once, without a hole and
without an operator; 1 otherwise, with what is needed to look for the cause in the folder that is named; 2 for bad usage.`

/** Reads the command line. Prints help or a usage error and exits by itself. */
export function parseOptions(args: readonly string[]): FaultOptions {
  const program = new Command('faults')
    .description('A random fault run.')
    .option('--seed <s>', 'what decides the plan', String(Date.now() % 100_000))
    .option('--transfers <n>', 'how many transfers the users send, over both directions', whole, 100)
    .addOption(new Option('--bridge <b>', 'over which bridge; both: half of them each').choices(bridgeChoices).default('both'))
    .option('--batch <n>', 'most native completions in one transaction (default: each has its own)', whole)
    .option('--duration <s>', 'seconds that faults go on for (default: 15, and one per 10 transfers)', whole)
    .option('--only <kinds>', 'only these kinds, separated by commas', kinds)
    .option('--stuck-after <s>', 'what has not moved for so many seconds after the faults is stuck', whole, 90)
    .option('--processes <n>', 'Portage processes', whole, 2)
    .option('--pause <ms>', 'mean pause between two faults', whole, 700)
    .option('--window <n>', 'nonces in flight per lane', whole, 64)
    .option('--plan', 'print the plan, do nothing', false)
    .option('--keep', 'stay up at the end, until Ctrl-C; keep the folder', false)
    .option('--json', 'print the summary as one JSON object on stdout, nothing else there', false)
    .addHelpText('after', help)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  const given = program.parse(args, { from: 'user' }).opts<FaultOptions>()
  return { ...given, ...withDefaults(given) }
}

function withDefaults(given: Partial<FaultOptions> & { transfers: number }): Pick<FaultOptions, 'duration' | 'only'> {
  return { duration: given.duration ?? defaultDuration(given.transfers), only: given.only ?? faultKinds }
}

/** Seconds of faults for so many transfers. */
export function defaultDuration(transfers: number): number {
  return 15 + Math.round(transfers / 10)
}

function whole(text: string): number {
  const value = Number(text)
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('must be a whole number of at least 1')
  return value
}

function kinds(text: string): FaultKind[] {
  return text.split(',').map((name) => {
    const kind = faultKinds.find((one) => one === name.trim())
    if (!kind) throw new InvalidArgumentError(`there is no ${name}; kinds: ${faultKinds.join(', ')}`)
    return kind
  })
}
