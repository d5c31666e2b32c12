import { Command, InvalidArgumentError, Option } from 'commander'

export const drillCases = ['dump', 'nothing'] as const
export type DrillCase = (typeof drillCases)[number]

export interface DrillOptions {
  readonly case: DrillCase
  readonly transfers: number
  readonly stuckAfter: number
  readonly keep: boolean
  readonly json: boolean
}

/** Minimum number of transfers: one over each bridge in each part of the drill. */
export const fewestTransfers = 20

export const drillExit = { notClean: 1, usage: 2, notRun: 3 } as const

const help = `
Rehearses the loss of Temporal's database, with the production server on PostgreSQL, two chains and both bridges. Users'
transfers are delivered, and pg_dump writes a dump while more transfers are in progress. Work continues. Then, while signed
transactions are in a pool, all Portage processes, Temporal and its PostgreSQL are killed together, and users keep sending.
Temporal starts again from the dump, or empty (\`portage setup temporal\` then creates its namespace), and Portage starts
after it. An independent checker judges the result by the state of the chains.

Examples:
  npm run drill -- --case dump
  npm run drill -- --case nothing --transfers 60 --json

Exit code: 0 if every transfer was delivered exactly once and no payment of an operator was made twice;
${drillExit.notClean} otherwise, and the output names the folder with the logs; ${drillExit.usage} for wrong usage;
${drillExit.notRun} if PostgreSQL or the Temporal server is missing on this machine, so that nothing was run.`

export function parseOptions(args: readonly string[]): DrillOptions {
  return new Command('drill')
    .description("Rehearses the loss of Temporal's database.")
    .addOption(new Option('--case <c>', 'the database that Temporal starts from again').choices(drillCases).default('dump'))
    .option('--transfers <n>', `number of transfers that the users send, at least ${fewestTransfers}`, count, 60)
    .option('--stuck-after <s>', 'seconds without progress after which a transfer counts as stuck', whole, 60)
    .option('--keep', 'keep the folder with the logs', false)
    .option('--json', 'print only the summary, as one JSON object, on stdout', false)
    .addHelpText('after', help)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : drillExit.usage))
    .parse(args, { from: 'user' })
    .opts<DrillOptions>()
}

function whole(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('must be a whole number of at least 1')
  return Number(text)
}

function count(text: string): number {
  if (whole(text) < fewestTransfers) throw new InvalidArgumentError(`must be at least ${fewestTransfers}`)
  return Number(text)
}
