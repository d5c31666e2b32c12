import { Command } from 'commander'
import type { Cli } from '../context.ts'
import { cancelCommand } from './transfer-cancel.ts'
import { listCommand } from './transfer-list.ts'
import { retryCommand } from './transfer-retry.ts'
import { showCommand } from './transfer-show.ts'
import { submitCommand } from './transfer-submit.ts'
import { watchCommand } from './transfer-watch.ts'

/** `portage transfer …` */
export function transferCommand(cli: Cli): Command {
  const transfer = new Command('transfer').description('Transfers: hand one in, look at them, retry, cancel.')
  for (const create of [submitCommand, showCommand, listCommand, watchCommand, retryCommand, cancelCommand])
    transfer.addCommand(create(cli))
  return transfer
}
