import { Command, InvalidArgumentError } from 'commander'
import { type BugName, knownBugs } from './known-bugs.ts'

export interface SimulateOptions {
  readonly seed: number
  readonly seeds: number
  readonly transfers: number
  readonly minutes?: number
  readonly bug?: BugName
  readonly bugs: boolean
  readonly first: boolean
  readonly trace: boolean
  readonly json: boolean
}

const help = `
Portage's own workflows, steps, lanes and reducers run in one process, on simulated time, chains, Temporal and
processes. The seed decides everything: crashes at any await, lost and repeated answers, forks, price rises, jumps of the
clock, several processes with one key, a wiped or restored Temporal, orders and forged messages. Then it is counted:

  delivered         transfers whose effect is final and whose workflow says so
  cancelled         by an operator of the simulation, without effect
  lost              ended otherwise or too early, or has no workflow
  duplicateEffects  effects beyond the first, and effects of forged messages
  nonceHoles        nonces that a lane granted and no final transaction used
  stuck             no outcome, and for 45 minutes no transfer ended and no nonce became final

A failing seed is made smaller until no smaller one fails, and its trace is printed.

Examples:
  npm run simulate -- --seed 7 --transfers 1000
  npm run simulate -- --seeds 1000 --json
  npm run simulate -- --minutes 10
  npm run simulate -- --bugs

Exit code: 0 if lost, duplicateEffects, nonceHoles and stuck are 0 (with --bugs: if each bug is found), 1 if not, 2 for
bad usage.`

export function parseOptions(args: readonly string[]): SimulateOptions {
  return new Command('simulate')
    .description('Simulations of Portage, each decided by its seed.')
    .option('--seed <n>', 'first seed', whole, Date.now() % 1_000_000)
    .option('--seeds <n>', 'number of seeds: this one and the next', whole, 1)
    .option('--transfers <n>', 'transfers per seed', whole, 1_000)
    .option('--minutes <m>', 'go on with new seeds until this time is over, in place of --seeds', minutes)
    .option('--bug <name>', `put this known bug back first: ${Object.keys(knownBugs).join(', ')}`, bugName)
    .option('--bugs', 'put each known bug back in turn, and run the seed that finds it', false)
    .option('--first', 'stop at the first seed that fails', false)
    .option('--trace', 'print what happens, also if nothing fails', false)
    .option('--json', 'print the result as one JSON object on stdout, nothing else there', false)
    .addHelpText('after', help)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
    .parse(args, { from: 'user' })
    .opts<SimulateOptions>()
}

function whole(text: string): number {
  if (/^[0-9]{1,7}$/.test(text) && Number(text) > 0) return Number(text)
  throw new InvalidArgumentError('must be a whole number above 0')
}

function minutes(text: string): number {
  if (/^[0-9]{1,4}(\.[0-9]{1,3})?$/.test(text) && Number(text) > 0) return Number(text)
  throw new InvalidArgumentError('must be a number above 0')
}

function bugName(text: string): BugName {
  if (text in knownBugs) return text as BugName
  throw new InvalidArgumentError(`there is no ${text}; bugs: ${Object.keys(knownBugs).join(', ')}`)
}
