import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { Command } from 'commander'
import type { TransferReport } from '../../temporal/client/transfers.ts'
import { listTransfers, readTransfer } from '../../temporal/client/transfers.ts'
import type { Cli, CliContext, ExitCode, GlobalOptions } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { print } from '../output.ts'
import { withClient } from '../temporal.ts'
import type { ListOptions } from './transfer-list.ts'
import { rowsText, withFilter } from './transfer-list.ts'
import { reportText } from './transfer-show.ts'

/** How often the server is asked. People read no faster, and a query costs a worker's time. */
const pollMs = 1_000

/** `portage transfer watch [id]` */
export function watchCommand({ context, action }: Cli): Command {
  return withFilter(new Command('watch'))
    .description('Follow one transfer to its end, or all that match until SIGINT.')
    .argument('[id]', 'transfer id; without one, the list is shown whenever it changes')
    .addHelpText('after', help)
    .action(
      action(async (globals, id: string | undefined, options: ListOptions) => {
        const config = await readConfig(context, globals)
        const stop = new AbortController()
        const abort = (): void => stop.abort()
        context.on('SIGINT', abort)
        context.on('SIGTERM', abort)
        try {
          return await withClient(config, (client) =>
            id === undefined
              ? watchList(client, context, globals, options, stop.signal)
              : watchOne(client, context, globals, id, stop.signal),
          )
        } finally {
          context.off('SIGINT', abort)
          context.off('SIGTERM', abort)
        }
      }),
    )
}

/** Prints each new line of the timeline; the final status ends it. Ends early, with the status so far, at a signal. */
async function watchOne(client: Client, context: CliContext, globals: GlobalOptions, id: string, signal: AbortSignal): Promise<ExitCode> {
  let printedUntil = 0
  for (;;) {
    const report = await readTransfer(client, id)
    const closed = 'partial' in report ? report.closedAt !== undefined : report.execution === 'COMPLETED'
    if (closed || signal.aborted) {
      print(context, globals, report, `${printedUntil > 0 ? '\n' : ''}${reportText(report)}`)
      return report.state === 'delivered' ? exitCodes.ok : exitCodes.failure
    }
    printedUntil = printNews(context, globals, report, printedUntil)
    await pause(signal)
  }
}

function printNews(context: CliContext, { json }: GlobalOptions, report: TransferReport, after: number): number {
  if ('partial' in report || json) return after
  // By time, not by index: a long timeline drops lines from its middle.
  const news = report.timeline.filter(({ at }) => at > after)
  for (const { at, state, note } of news) context.stdout.write(`${new Date(at).toISOString()}  ${state}  ${note}\n`)
  return news.at(-1)?.at ?? after
}

async function watchList(
  client: Client,
  context: CliContext,
  globals: GlobalOptions,
  filter: ListOptions,
  signal: AbortSignal,
): Promise<ExitCode> {
  let shown = ''
  while (!signal.aborted) {
    const transfers = await listTransfers(client, filter)
    const text = rowsText(transfers)
    if (text !== shown) {
      const clear = context.stdout.isTTY && !globals.json ? '\u001b[2J\u001b[H' : ''
      context.stdout.write(clear)
      print(context, globals, { transfers }, text)
      shown = text
    }
    await pause(signal)
  }
  return exitCodes.ok
}

async function pause(signal: AbortSignal): Promise<void> {
  await delay(pollMs, undefined, { signal }).catch(() => {})
}

const help = `
With an id, the exit code is 0 if the transfer ends delivered, else 1; with --json, one object: the final status.
Without one, --json prints one object per change.

Examples:
  portage transfer watch wormhole-token-bridge:ethereum:0000…a585:269170:6d1b4c0c5f0a3e21
  portage transfer watch --state parked`
