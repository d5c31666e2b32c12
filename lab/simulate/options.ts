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
Runs Portage's own workflows, steps, lanes and reducers in one process, on a simulated clock, chains, Temporal and
processes. The seed decides everything: crashes at any await, lost and repeated answers, forks, price rises, clock jumps,
several processes with one key, a wiped or restored Temporal, orders and forged messages. The summary counts:

  delivered         transfers whose effect is final and whose workflow ended as delivered
  cancelled         transfers without an effect that a simulated operator cancelled
  lost              transfers that ended differently or too early, or that have no workflow
  duplicateEffects  effects of a transfer beyond the first, and effects of forged messages
  nonceHoles        nonces that a lane granted and that no final transaction used
  stuck             transfers without an outcome after 45 minutes in which no transfer ended and no nonce became final

The plan of a failing seed is made smaller until no smaller plan fails. Then the trace of its run is printed.

Examples:
  npm run simulate -- --seed 7 --transfers 1000
  npm run simulate -- --seeds 1000 --json
  npm run simulate -- --minutes 10
  npm run simulate -- --bugs

Exit code: 0 if lost, duplicateEffects, nonceHoles and stuck are 0 (with --bugs: if each bug is found), 1 otherwise,
2 for wrong usage.`

export function parseOptions(args: readonly string[]): SimulateOptions {
  return new Command('simulate')
    .description('Simulates Portage, with all decisions made by a seed.')
    .option('--seed <n>', 'first seed', whole, Date.now() % 1_000_000)
    .option('--seeds <n>', 'number of successive seeds', whole, 1)
    .option('--transfers <n>', 'transfers per seed', whole, 1_000)
    .option('--minutes <m>', 'run new seeds for this number of minutes, instead of --seeds', minutes)
    .option('--bug <name>', `first put back this known bug: ${Object.keys(knownBugs).join(', ')}`, bugName)
    .option('--bugs', 'put back each known bug in turn, and run the seed that finds it', false)
    .option('--first', 'stop at the first seed that fails', false)
    .option('--trace', 'print all events, even if nothing fails', false)
    .option('--json', 'print only the result, as one JSON object, on stdout', false)
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
