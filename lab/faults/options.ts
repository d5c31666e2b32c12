import { Command, InvalidArgumentError, Option } from 'commander'
import { type BridgeChoice, bridgeChoices } from '../demo/load.ts'
import { type FaultKind, faultKinds, fleetFaultKinds, fleetKinds } from './plan.ts'

export interface FaultOptions {
  readonly seed: string
  readonly transfers: number
  /** Separate processes for each role, and Temporal on PostgreSQL. */
  readonly fleet: boolean
  readonly bridge: BridgeChoice
  readonly batch?: number
  readonly duration: number
  readonly only: readonly FaultKind[]
  readonly stuckAfter: number
  readonly processes: number
  readonly quickTakeover: boolean
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

--fleet: each role in processes of its own (chain, ledger, intake and each key twice, one API), each with its own way to Temporal and the nodes, on the real Temporal
server on PostgreSQL with 4 history shards, TLS and tokens. First lane processes are killed one by one, and it is measured how soon the other one of the same key
delivers. Then all faults but those that wipe Temporal or set it back, and: ${fleetKinds.join(', ')}.
It needs PostgreSQL, openssl, and the server: npx tsx lab/devnet/temporal/find-temporal-server.ts builds it once, or TEMPORAL_SERVER names it.

Examples:
  npm run faults -- --seed 7 --transfers 100
  npm run faults -- --seed 7 --transfers 500 --json > summary.json
  npm run faults -- --seed 7 --only fork,reorg,lane-reset
  npm run faults -- --seed 7 --bridge native --batch 20
  npm run faults -- --seed 7 --plan
  npm run faults -- --fleet --seed 41 --transfers 300 --json

The same seed, bridge, duration, kinds and pause give the same plan. Exit code: 0 if every transfer was delivered exactly once, without a hole and
without an operator; 1 otherwise, with what is needed to look for the cause in the folder that is named; 2 for bad usage; 3 if this machine
cannot run --fleet, with NOT RUN: and what is missing on stderr.`

export function parseOptions(args: readonly string[]): FaultOptions {
  const program = new Command('faults')
    .description('A random fault run.')
    .option('--seed <s>', 'seed of the plan', String(Date.now() % 100_000))
    .option('--fleet', 'a fleet of processes on the real Temporal server, see below', false)
    .option('--transfers <n>', 'how many transfers the users send, over both directions', whole, 100)
    .addOption(new Option('--bridge <b>', 'over which bridge; both: half of them each').choices(bridgeChoices).default('both'))
    .option('--batch <n>', 'most native completions in one transaction (default: each has its own)', whole)
    .option('--duration <s>', 'seconds that faults go on for (default: 15, and one per 10 transfers; of a fleet 60, and one per 5)', whole)
    .option('--only <kinds>', 'only these kinds, separated by commas', kinds)
    .option('--stuck-after <s>', 'a transfer without progress for this time after the faults is stuck, seconds', whole, 90)
    .option('--processes <n>', 'Portage processes; of a fleet, of each role and for each key', whole, 2)
    .option(
      '--quick-takeover',
      'the work of a dead process waits for a third as long as by default, or less (worker.heartbeatSeconds 5)',
      false,
    )
    .option('--pause <ms>', 'mean pause between two faults (default: 700; of a fleet 1000)', whole)
    .option('--window <n>', 'nonces in flight per lane', whole, 64)
    .option('--plan', 'print the plan, do nothing', false)
    .option('--keep', 'stay up at the end, until Ctrl-C; keep the folder', false)
    .option('--json', 'print the summary as one JSON object on stdout, nothing else there', false)
    .addHelpText('after', help)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  const given = program
    .parse(args, { from: 'user' })
    .opts<Partial<FaultOptions> & Pick<FaultOptions, 'transfers' | 'fleet' | 'processes'>>()
  const possible: readonly FaultKind[] = given.fleet ? fleetFaultKinds : faultKinds
  const other = given.only?.find((kind) => !possible.includes(kind))
  if (other !== undefined) program.error(`error: ${other} is of a run ${given.fleet ? 'without' : 'with'} --fleet`)
  if (given.fleet && given.processes < 2) program.error('error: of a fleet there are at least 2 processes of each')
  return { ...(given as FaultOptions), ...withDefaults(given) }
}

function withDefaults(
  given: Partial<FaultOptions> & Pick<FaultOptions, 'transfers' | 'fleet'>,
): Pick<FaultOptions, 'duration' | 'only' | 'pause'> {
  const { fleet, transfers, duration, only, pause } = given
  return {
    duration: duration ?? (fleet ? 60 + Math.round(transfers / 5) : defaultDuration(transfers)),
    only: only ?? (fleet ? fleetFaultKinds : faultKinds),
    pause: pause ?? (fleet ? 1_000 : 700),
  }
}

/** Default duration of the faults in a run without a fleet, seconds. */
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
    const kind = [...faultKinds, ...fleetKinds].find((one) => one === name.trim())
    if (!kind) throw new InvalidArgumentError(`there is no ${name}; kinds: ${[...faultKinds, ...fleetKinds].join(', ')}`)
    return kind
  })
}
