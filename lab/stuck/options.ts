import { Command, InvalidArgumentError } from 'commander'
import { stuckCases } from './cases.ts'
import { stuckDevnet } from './scene.ts'

export interface StuckOptions {
  readonly case: readonly string[]
  readonly list: boolean
  readonly json: boolean
}

export const stuckExit = { notClean: 1, usage: 2 } as const
/** Maximum time from a fault to its row, seconds. docs/runbooks/README.md promises this maximum. */
export const mostSeconds = 10

const help = `
Makes the causes of \`portage stuck\` one after another on real parts: two chains with ${stuckDevnet.nodesPerChain} nodes and ${stuckDevnet.keysPerChain} keys each, the bridges and products, a guardian, a process
for each role. Of each it measures the seconds from the fault to its row, in \`portage stuck --json\` and in GET /v1/stuck; then it mends the fault, and the row must go.

Examples:
  npm run stuck:live
  npm run stuck:live -- --case lane-funds --case spy-silent --json

Exit code: 0 if every row came within ${mostSeconds} s by both, and went; ${stuckExit.notClean} otherwise; ${stuckExit.usage} for bad usage.`

export function parseOptions(args: readonly string[]): StuckOptions {
  return new Command('stuck:live')
    .description('Every cause of `portage stuck` on real parts, with the seconds until it is shown.')
    .option('--case <name>', 'this one only; once or more', oneMore, [])
    .option('--list', 'print the names of the cases and end', false)
    .option('--json', 'print the results as one JSON object on stdout, nothing else there', false)
    .addHelpText('after', help)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : stuckExit.usage))
    .parse(args, { from: 'user' })
    .opts<StuckOptions>()
}

function oneMore(name: string, before: readonly string[]): readonly string[] {
  if (!stuckCases.some((one) => one.name === name)) throw new InvalidArgumentError('there is no such case: --list shows them')
  return [...before, name]
}
