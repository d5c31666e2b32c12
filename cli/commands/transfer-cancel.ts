import { Command } from 'commander'
import { readTransfer } from '../../temporal/client/transfers.ts'
import { fromTemporal } from '../../api/temporal-errors.ts'
import { RelayerError } from '../../domain/errors.ts'
import { cancelSignal } from '../../temporal/contracts/transfer.ts'
import type { Cli } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { facts, print } from '../output.ts'
import { withClient } from '../temporal.ts'

/** `portage transfer cancel <id>` */
export function cancelCommand({ context, action }: Cli): Command {
  return new Command('cancel')
    .description('End a transfer that is open. A nonce in flight gets a no-op of the lane; if the call wins, the transfer is delivered.')
    .argument('<id>', 'transfer id')
    .requiredOption('--operator <name>', 'who cancels; kept in the history')
    .requiredOption('--reason <text>', 'why; kept in the history')
    .addHelpText(
      'after',
      '\nExample:\n  portage transfer cancel wormhole-token-bridge:… --operator night-shift --reason "recipient asked for it"',
    )
    .action(
      action(async (globals, id: string, { operator, reason }: { operator: string; reason: string }) => {
        await withClient(await readConfig(context, globals), async (client) => {
          const report = await readTransfer(client, id)
          if (report.execution !== 'RUNNING') {
            throw new RelayerError('INPUT_INVALID', {
              detail: 'This transfer is closed already.',
              facts: { transfer: id, state: report.state, execution: report.execution },
            })
          }
          await client.workflow
            .getHandle(id)
            .signal(cancelSignal, { operator, reason })
            .catch((error: unknown) => {
              throw fromTemporal(error, 'TRANSFER_NOT_FOUND', { transfer: id })
            })
        })
        print(context, globals, { id, asked: 'cancel' }, facts({ transfer: id, asked: 'cancel; portage transfer watch shows how it ends' }))
        return exitCodes.ok
      }),
    )
}
