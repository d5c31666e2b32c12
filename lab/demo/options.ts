import { Command, InvalidArgumentError, Option } from 'commander'
import { type BridgeChoice, bridgeChoices } from './load.ts'

export interface DemoOptions {
  readonly transfers: number
  /** Transfers per second. 0: sends all transfers without pauses. */
  readonly rate: number
  readonly bridge: BridgeChoice
  readonly batch?: number
  readonly keys: number
  readonly keep: boolean
  readonly json: boolean
  readonly blockTime: number
  readonly guardians: number
  readonly inMemory: boolean
  readonly timeout: number
}

const help = `
Starts a devnet (Temporal, and two chains with the real Wormhole contracts and a guardian, with the contracts of a native
bridge, or with both), and sends users' transfers in both directions. Portage delivers them, and an independent checker
counts the deliveries. Native transfers are not submitted, because Portage finds them in the source's blocks.

Examples:
  npm run demo
  npm run demo -- --transfers 100 --rate 0
  npm run demo -- --bridge native
  npm run demo -- --bridge all          both bridges, NTT, payload 3 to a contract, an Executor and CCTP
  npm run demo -- --bridge native --transfers 200 --rate 0 --batch 20
  npm run demo -- --transfers 20 --json > summary.json

Exit code: 0 if every transfer was delivered exactly once, 1 otherwise, 2 for wrong usage.`

export function parseOptions(args: readonly string[]): DemoOptions {
  const program = new Command('demo')
    .description("Delivers users' transfers on a local network.")
    .option('--transfers <n>', 'number of transfers that the users send, in both directions together', whole(1), 20)
    .addOption(new Option('--bridge <b>', 'the bridge that the users use').choices(bridgeChoices).default('wormhole'))
    .option('--batch <n>', 'maximum number of native completions in one transaction, 2 to 100 (default: 1)', whole(2))
    .option('--rate <r>', 'transfers per second; 0: no pauses', number(0), 5)
    .option('--keys <k>', 'keys (lanes) per chain', whole(1), 2)
    .option('--block-time <s>', 'seconds between blocks', number(0.1), 1)
    .option('--guardians <n>', 'number of guardians, 1 or 19', whole(1), 1)
    .option('--timeout <s>', 'seconds without progress after which the demo gives up', whole(1), 120)
    .option('--in-memory', "keep Temporal's database in memory", false)
    .option('--keep', 'keep everything running at the end, including the Temporal Web UI, until Ctrl-C', false)
    .option('--json', 'print only the summary, as one JSON object, on stdout', false)
    .addHelpText('after', help)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  return program.parse(args, { from: 'user' }).opts<DemoOptions>()
}

function number(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (text.trim() === '' || !Number.isFinite(value) || value < least)
      throw new InvalidArgumentError(`must be a number of at least ${least}`)
    return value
  }
}

function whole(least: number): (text: string) => number {
  return (text) => {
    const value = number(least)(text)
    if (!Number.isInteger(value)) throw new InvalidArgumentError('must be a whole number')
    return value
  }
}
