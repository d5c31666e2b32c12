import { Command } from 'commander'
import type { TransferReport } from '../../temporal/client/transfers.ts'
import { readTransfer } from '../../temporal/client/transfers.ts'
import { errorCatalogue } from '../../domain/errors.ts'
import type { Cli } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { facts, print, table } from '../output.ts'
import { withClient } from '../temporal.ts'

/** `portage transfer show <id>` */
export function showCommand({ context, action }: Cli): Command {
  return new Command('show')
    .description('Where a transfer is, what happened, and how it ended.')
    .argument('<id>', 'transfer id, as list and submit print it')
    .addHelpText('after', '\nExample:\n  portage transfer show wormhole-token-bridge:ethereum:0000…a585:269170:6d1b4c0c5f0a3e21 --json')
    .action(
      action(async (globals, id: string) => {
        const report = await withClient(await readConfig(context, globals), (client) => readTransfer(client, id))
        print(context, globals, report, reportText(report))
        return exitCodes.ok
      }),
    )
}

/** A transfer for people: its facts, then its timeline. */
export function reportText(report: TransferReport): string {
  if ('partial' in report) {
    const { partial, ...row } = report
    return `${facts(row)}\n\nOnly a part is known: ${partial}.`
  }
  const { id, state, mip61, execution, transfer, lane, nonce, txHash, delivery, batch, code, reason, rounds, tried = [], timeline } = report
  const head = facts({
    transfer: id,
    state,
    'MIP-61': mip61,
    workflow: execution,
    from: `${transfer.sourceChain}, emitter ${transfer.emitter}, sequence ${transfer.sequence}`,
    to: transfer.targetChain,
    lane,
    nonce,
    batch,
    transaction: txHash,
    block: delivery?.blockHeight,
    'delivered by': delivery && `${delivery.by ?? 'unknown'}${delivery.ours ? ' (ours)' : ''}`,
    'gas paid': delivery?.gasPaid && `${delivery.gasPaid} wei`,
    code,
    reason,
    remedy: state === 'parked' || state === 'waiting' ? code && errorCatalogue[code].remedy : undefined,
    rounds,
  })
  const lines = timeline.map((entry) => [new Date(entry.at).toISOString(), entry.state, entry.note])
  const attempts = tried.map(({ kind, hash, maxFee, tip, fate }) => [kind, hash, maxFee, tip, fate])
  return [
    head,
    ...(attempts.length > 0 ? [table(['attempt', 'transaction', 'max fee (wei)', 'tip (wei)', 'fate'], attempts)] : []),
    ...(lines.length > 0 ? [table(['time', 'state', 'note'], lines)] : []),
  ].join('\n\n')
}
