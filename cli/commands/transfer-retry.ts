import { Command } from 'commander'
import { fromTemporal } from '../../api/temporal-errors.ts'
import { readTransfer } from '../../temporal/client/transfers.ts'
import { RelayerError } from '../../domain/errors.ts'
import { retrySignal } from '../../temporal/contracts/transfer.ts'
import type { Cli } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { facts, print } from '../output.ts'
import { restartTransfer } from '../../temporal/client/start-transfer.ts'
import { withClient } from '../temporal.ts'

/** `portage transfer retry <id>` */
export function retryCommand({ context, action }: Cli): Command {
  return new Command('retry')
    .description('Try now: wakes a transfer that waits or is parked; starts one again that is closed and not delivered.')
    .argument('<id>', 'transfer id')
    .addHelpText('after', help)
    .action(
      action(async (globals, id: string) => {
        const done = await withClient(await readConfig(context, globals), async (client) => {
          const report = await readTransfer(client, id)
          if (report.state === 'delivered') {
            throw new RelayerError('INPUT_INVALID', {
              detail: 'This transfer is delivered: there is nothing to retry.',
              facts: { transfer: id },
            })
          }
          try {
            if (report.execution === 'RUNNING') {
              await client.workflow.getHandle(id).signal(retrySignal)
              return 'woken' as const
            }
            await restartTransfer(client, id)
            return 'started again' as const
          } catch (error) {
            throw fromTemporal(error, 'TRANSFER_NOT_FOUND', { transfer: id })
          }
        })
        print(context, globals, { id, done }, facts({ transfer: id, done }))
        return exitCodes.ok
      }),
    )
}

const help = `
Many at once, with Temporal's own CLI:
  temporal workflow signal --name retry --reason "node is back" --query "WorkflowType='transfer' AND TransferState='parked'"

Example:
  portage transfer retry wormhole-token-bridge:ethereum:0000…a585:269170:6d1b4c0c5f0a3e21`
