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
Sends users' transfers between two chains with two keys and three nodes each, while random faults strike: nodes hang, lie,
lag, refuse and hide logs; chains fork down to finality, raise their prices, evict transactions and stop; keys are drained
and stolen; the spy drops its subscribers; workflows are terminated and reset; Temporal is wiped and restored from a copy;
processes are killed. Then the faults end, all work must complete by itself, and an independent checker judges the result.

Kinds: ${faultKinds.join(', ')}

--fleet: runs each role in separate processes (two for chain, ledger, intake and each key, one for the API), each with its
own proxies to Temporal and the nodes, on the real Temporal server on PostgreSQL with 4 history shards, TLS and tokens.
First, lane processes are killed one by one, to measure how soon the other process of the same key delivers. Then all
faults strike except those that wipe Temporal or set it back, and also: ${fleetKinds.join(', ')}.
Needs PostgreSQL, openssl and the server, which npx tsx lab/devnet/temporal/find-temporal-server.ts builds once, unless
TEMPORAL_SERVER names it.

Examples:
  npm run faults -- --seed 7 --transfers 100
  npm run faults -- --seed 7 --transfers 500 --json > summary.json
  npm run faults -- --seed 7 --only fork,reorg,lane-reset
  npm run faults -- --seed 7 --bridge native --batch 20
  npm run faults -- --seed 7 --plan
  npm run faults -- --fleet --seed 41 --transfers 300 --json

The same seed, bridge, duration, kinds and pause give the same plan. Exit code: 0 if every transfer was delivered
exactly once, without a nonce hole and without an operator; 1 otherwise, and the output names the folder with the logs;
2 for wrong usage; 3 if this machine cannot run --fleet, with NOT RUN: and the missing program on stderr.`

export function parseOptions(args: readonly string[]): FaultOptions {
  const program = new Command('faults')
    .description('Delivers transfers while random faults strike.')
    .option('--seed <s>', 'seed of the plan', String(Date.now() % 100_000))
    .option('--fleet', 'run a fleet of processes on the real Temporal server, see below', false)
    .option('--transfers <n>', 'number of transfers that the users send, in both directions together', whole, 100)
    .addOption(
      new Option('--bridge <b>', 'the bridge that the users use; both: half of the transfers over each bridge')
        .choices(bridgeChoices)
        .default('both'),
    )
    .option('--batch <n>', 'maximum number of native completions in one transaction (default: 1)', whole)
    .option(
      '--duration <s>',
      'duration of the faults, seconds (default: 15 plus one per 10 transfers; with --fleet: 60 plus one per 5)',
      whole,
    )
    .option('--only <kinds>', 'only these kinds, separated by commas', kinds)
    .option('--stuck-after <s>', 'seconds without progress after which a transfer counts as stuck, once the faults are over', whole, 90)
    .option('--processes <n>', 'number of Portage processes; with --fleet: for each role and each key', whole, 2)
    .option(
      '--quick-takeover',
      'take over the work of a dead process in a third of the default time or less (worker.heartbeatSeconds 5)',
      false,
    )
    .option('--pause <ms>', 'mean pause between two faults, ms (default: 700; with --fleet: 1000)', whole)
    .option('--window <n>', 'maximum number of nonces in flight per lane', whole, 64)
    .option('--plan', 'print the plan and exit', false)
    .option('--keep', 'keep everything running at the end, until Ctrl-C, and keep the folder', false)
    .option('--json', 'print only the summary, as one JSON object, on stdout', false)
    .addHelpText('after', help)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  const given = program
    .parse(args, { from: 'user' })
    .opts<Partial<FaultOptions> & Pick<FaultOptions, 'transfers' | 'fleet' | 'processes'>>()
  const possible: readonly FaultKind[] = given.fleet ? fleetFaultKinds : faultKinds
  const other = given.only?.find((kind) => !possible.includes(kind))
  if (other !== undefined) program.error(`error: ${other} strikes only in a run ${given.fleet ? 'without' : 'with'} --fleet`)
  if (given.fleet && given.processes < 2) program.error('error: with --fleet, --processes must be at least 2')
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
