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
Rehearses the loss of Temporal's database, on the server of production on PostgreSQL, with two chains and both bridges: users' transfers are delivered; pg_dump
writes a dump while more are under way; the work goes on; then, with signed transactions in a pool, all Portage processes, Temporal and its PostgreSQL are
killed at once, and users go on sending. Temporal starts again from that dump, or from nothing (portage setup temporal makes its namespace), then Portage. An independent
checker judges what the chains show.

Examples:
  npm run drill -- --case dump
  npm run drill -- --case nothing --transfers 60 --json

Exit code: 0 if every transfer was delivered exactly once and no payment of an operator was made twice; ${drillExit.notClean} otherwise, and the folder with
the logs is named; ${drillExit.usage} for bad usage; ${drillExit.notRun} if PostgreSQL or the Temporal server is not on this machine: nothing was run.`

export function parseOptions(args: readonly string[]): DrillOptions {
  return new Command('drill')
    .description("A rehearsal of the loss of Temporal's database.")
    .addOption(new Option('--case <c>', 'the database that Temporal starts from again').choices(drillCases).default('dump'))
    .option('--transfers <n>', `how many transfers the users send, at least ${fewestTransfers}`, count, 60)
    .option('--stuck-after <s>', 'a transfer without progress for this time is stuck, seconds', whole, 60)
    .option('--keep', 'keep the folder with the logs', false)
    .option('--json', 'print the summary as one JSON object on stdout, nothing else there', false)
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
