import { transactionsOf } from '../../../temporal/client/transfers/transfer-transactions.ts'
import { readTransfer } from '../../../temporal/client/transfers/transfers.ts'
import type { CommandSpec } from '../../command.ts'
import { findTransfer, transferForms } from '../../arguments/transfer-ids.ts'
import { reportText } from '../../output/transfer-text.ts'
import { list, watch } from './transfer-lists.ts'
import { transferOrderCommands } from './transfer-orders.ts'
import { submit } from './transfer-submit.ts'

export const transferCommand: CommandSpec = {
  description: 'Transfers: submit, show, list, retry, cancel, expedite.',
  commands: {
    submit,
    show: {
      description: 'The state of a transfer, its timeline and its outcome.',
      options: (command) => command.argument('<id>', transferForms),
      examples: [
        'portage transfer show 6d1b4c0c5f0a3e21',
        'portage transfer show 2/0x3ee18b2214aff97000d974cf647e7c347e8fa585/269170 --json',
        'portage transfer show ethereum/17',
      ],
      run: async ({ withTemporal }, given: string) => {
        const { report, transactions, config } = await withTemporal(async (client, loaded) => {
          const found = await readTransfer(client, await findTransfer(client, loaded, given))
          return { config: loaded, report: found, transactions: 'partial' in found ? [] : await transactionsOf(client, found) }
        })
        return { json: { ...report, transactions }, text: reportText(report, config, transactions) }
      },
    },
    list,
    watch,
    ...transferOrderCommands,
  },
}
