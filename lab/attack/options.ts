import { Command, InvalidArgumentError } from 'commander'
import { chanceOf } from '../faults/random.ts'
import { type Defence, type DefenceName, defences } from './defences.ts'
import { type AttackKind, attackKinds } from './plan.ts'

export interface AttackOptions {
  readonly seed: string
  readonly transfers: number
  /** Seconds. */
  readonly duration: number
  readonly only: readonly AttackKind[]
  readonly without?: DefenceName
  readonly stuckAfter: number
  readonly processes: number
  readonly plugin: boolean
  readonly keep: boolean
  readonly json: boolean
  readonly plan: boolean
}

const help = `
Honest users send transfers over both bridges, NTT, CCTP, an Executor and routes to contracts, between two chains with two
keys and three nodes each. At the same time, attackers use or wipe Temporal, call the API with tokens that do not permit
their orders, let one node per chain lie, gossip invented messages to the spy, and send worthless transfers. An operator
cancels transfers and pays from lanes. Then an independent checker verifies that each honest transfer was delivered once,
and that nothing was stolen, paid twice, overpaid, stopped or leaked.

Kinds: ${attackKinds.join(', ')}

Defences: ${Object.keys(defences).join(', ')}

Examples:
  npm run attack -- --seed 7 --transfers 200
  npm run attack -- --seed 7 --transfers 200 --json > summary.json
  npm run attack -- --seed 7 --only forged-step,prices
  npm run attack -- --seed 7 --plan
  npm run attack -- --seed 7 --transfers 40 --without emitter

The same seed, duration and kinds give the same plan. Exit code: 0 if all honest transfers were delivered and every
other count is 0; 1 otherwise, and the output names the folder with the logs; 2 for wrong usage. With --without: 0 if the
run noticed the missing defence, 1 if it was clean.`

export function parseOptions(args: readonly string[]): AttackOptions {
  const program = new Command('attack')
    .description('Attacks Portage while honest users send transfers.')
    .option('--seed <s>', 'seed of the plan', String(Date.now() % 100_000))
    .option('--transfers <n>', 'number of honest transfers, the same number over each bridge', whole, 100)
    .option('--duration <s>', 'duration of the attacks, seconds (default: 30, plus one per 10 transfers)', whole)
    .option('--only <kinds>', 'only these kinds, separated by commas', kinds)
    .option(
      '--without <defence>',
      'remove a defence from a copy of the sources, and carry out only the attacks that it stops; such a run must not be clean',
      defence,
    )
    .option('--stuck-after <s>', 'seconds without progress after which a transfer counts as stuck, once the attacks are over', whole, 90)
    .option('--processes <n>', 'number of Portage processes', whole, 2)
    .option('--plugin', 'run plug-ins in a process without keys, and the keys in another process (default: for about half of the seeds)')
    .option('--no-plugin', 'give each process all roles')
    .option('--plan', 'print the plan and exit', false)
    .option('--keep', 'keep the folder with the logs and the database', false)
    .option('--json', 'print only the summary, as one JSON object, on stdout', false)
    .addHelpText('after', help)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  const given = program.parse(args, { from: 'user' }).opts<AttackOptions>()
  const without: Defence | undefined = given.without && defences[given.without]
  const {
    duration = 30 + Math.round(given.transfers / 10),
    only = without?.exposedBy ?? attackKinds,
    plugin = without ? without.needsPlugin === true : chanceOf(`${given.seed}/plugin`).next() < 0.5,
  } = given as Partial<AttackOptions>
  return { ...given, duration, only, plugin }
}

function whole(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('must be a whole number of at least 1')
  return Number(text)
}

function defence(text: string): DefenceName {
  const found = Object.keys(defences).find((name) => name === text)
  if (found === undefined) throw new InvalidArgumentError(`there is no ${text}; defences: ${Object.keys(defences).join(', ')}`)
  return found as DefenceName
}

function kinds(text: string): AttackKind[] {
  return text.split(',').map((name) => {
    const kind = attackKinds.find((one) => one === name.trim())
    if (!kind) throw new InvalidArgumentError(`there is no ${name}; kinds: ${attackKinds.join(', ')}`)
    return kind
  })
}
