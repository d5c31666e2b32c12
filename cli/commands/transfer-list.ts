import { type Command, InvalidArgumentError, Option } from 'commander'
import { type TransferState, transferStates } from '../../domain/transfer/transfer.ts'
import { listTransfers } from '../../temporal/client/transfers.ts'
import { type Call, defineCommand } from '../command.ts'
import { wholeNumber } from '../options.ts'
import { rowsText } from '../transfer-text.ts'

/** What list and watch select by. */
export interface ListOptions {
  readonly state?: TransferState
  readonly chain?: string
  readonly limit: number
}

export const listTransfersCommand = defineCommand({
  name: 'list',
  description: 'Transfers, newest first.',
  options: withFilter,
  examples: ['portage transfer list --state parked', 'portage transfer list --chain ethereum --limit 200 --json'],
  run: async ({ withTemporal, options }: Call<ListOptions>) => {
    const transfers = await withTemporal((client) => listTransfers(client, options))
    return { json: { transfers }, text: rowsText(transfers) }
  },
})

export function withFilter(command: Command): Command {
  return command
    .addOption(new Option('--state <state>', 'only transfers in this state').choices(transferStates))
    .option('--chain <name>', 'only transfers from or to this chain', chainName)
    .option('--limit <number>', 'most rows', wholeNumber(1, 10_000, 'It must be a whole number from 1 to 10000.'), 50)
}

function chainName(value: string): string {
  if (!/^[a-z][a-z0-9-]{0,30}$/.test(value)) throw new InvalidArgumentError('It must be the name of a chain.')
  return value
}
