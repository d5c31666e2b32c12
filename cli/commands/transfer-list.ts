import { Command, InvalidArgumentError, Option } from 'commander'
import type { TransferRow } from '../../temporal/client/transfers.ts'
import { listTransfers } from '../../temporal/client/transfers.ts'
import type { TransferState } from '../../domain/transfer/transfer.ts'
import { transferStates } from '../../domain/transfer/transfer.ts'
import type { Cli } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { print, table } from '../output.ts'
import { withClient } from '../temporal.ts'

/** What list and watch select by. */
export interface ListOptions {
  readonly state?: TransferState
  readonly chain?: string
  readonly limit: number
}

/** `portage transfer list` */
export function listCommand({ context, action }: Cli): Command {
  return withFilter(new Command('list'))
    .description('Transfers, newest first.')
    .addHelpText(
      'after',
      '\nExamples:\n  portage transfer list --state parked\n  portage transfer list --chain ethereum --limit 200 --json',
    )
    .action(
      action(async (globals, options: ListOptions) => {
        const transfers = await withClient(await readConfig(context, globals), (client) => listTransfers(client, options))
        print(context, globals, { transfers }, rowsText(transfers))
        return exitCodes.ok
      }),
    )
}

export function withFilter(command: Command): Command {
  return command
    .addOption(new Option('--state <state>', 'only transfers in this state').choices(transferStates))
    .option('--chain <name>', 'only transfers from or to this chain', chainName)
    .option('--limit <number>', 'most rows', rowLimit, 50)
}

export function rowsText(rows: readonly TransferRow[]): string {
  if (rows.length === 0) return 'no transfers'
  const cells = rows.map(({ id, state, execution, sourceChain, targetChain, txHash, startedAt }) => [
    startedAt.slice(0, 19),
    // An execution that closed without being done says so instead of its last state.
    execution === 'RUNNING' || execution === 'COMPLETED' ? (state ?? '-') : execution.toLowerCase(),
    `${sourceChain ?? '?'} → ${targetChain ?? '?'}`,
    txHash ?? '-',
    id,
  ])
  return table(['started', 'state', 'route', 'transaction', 'id'], cells)
}

function chainName(value: string): string {
  if (!/^[a-z][a-z0-9-]{0,30}$/.test(value)) throw new InvalidArgumentError('It must be the name of a chain.')
  return value
}

function rowLimit(value: string): number {
  const limit = Number(value)
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) throw new InvalidArgumentError('It must be a whole number from 1 to 10000.')
  return limit
}
