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
Reproduces about half of the causes of \`portage stuck\`, one after another, on a real network: two chains with
${stuckDevnet.nodesPerChain} nodes and ${stuckDevnet.keysPerChain} keys each, the bridges and products, a guardian, and a process for each role. Measures the seconds from each
fault to its row, in \`portage stuck --json\` and in GET /v1/stuck. Then repairs the fault, after which the row must disappear.

Examples:
  npm run stuck:live
  npm run stuck:live -- --case lane-funds --case spy-silent --json

Exit code: 0 if both showed every row within ${mostSeconds} s, and every row disappeared; ${stuckExit.notClean} otherwise; ${stuckExit.usage} for wrong usage.`

export function parseOptions(args: readonly string[]): StuckOptions {
  return new Command('stuck:live')
    .description('Reproduces causes of `portage stuck`, and measures the time until each is shown.')
    .option('--case <name>', 'run only this case; may be repeated', oneMore, [])
    .option('--list', 'print the names of the cases and exit', false)
    .option('--json', 'print only the results, as one JSON object, on stdout', false)
    .addHelpText('after', help)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : stuckExit.usage))
    .parse(args, { from: 'user' })
    .opts<StuckOptions>()
}

function oneMore(name: string, before: readonly string[]): readonly string[] {
  if (!stuckCases.some((one) => one.name === name)) throw new InvalidArgumentError('unknown case (--list prints the names)')
  return [...before, name]
}
