import { setTimeout as delay } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { transferStates, type TransferState } from '../../domain/transfer/transfer.ts'
import type { TemporalClient } from '../../temporal/client/client.ts'
import { listTransfers } from '../../temporal/client/transfer-list.ts'
import { readTransfer, type TransferReport } from '../../temporal/client/transfers.ts'
import type { Call, CommandSpec, Outcome } from '../command.ts'
import { withInterrupt } from '../context.ts'
import { numberWithin, parse } from '../options.ts'
import { print } from '../output.ts'
import { reportText, rowsText } from '../transfer-text.ts'

/** What list and watch select by. */
interface ListOptions {
  readonly state?: TransferState
  readonly chain?: string
  readonly limit: number
}

export const list: CommandSpec = {
  description: 'Transfers, newest first.',
  options: withFilter,
  examples: ['portage transfer list --state parked', 'portage transfer list --chain ethereum --limit 200 --json'],
  run: async ({ withTemporal, options }: Call<ListOptions>) => {
    const transfers = await withTemporal((client) => listTransfers(client, options))
    return { json: { transfers }, text: rowsText(transfers) }
  },
}

/** How often the server is asked. People read no faster, and a query costs a worker's time. */
const pollMs = 1_000

export const watch: CommandSpec = {
  description: 'Follow one transfer to its end, or all that match until SIGINT.',
  options: (command) => withFilter(command).argument('[id]', 'transfer id; without one, the list is shown whenever it changes'),
  notes: `With an id, the exit code is 0 if the transfer ends delivered, else 1; with --json, one object: the final status.
Without one, --json prints one object per change.`,
  examples: ['portage transfer watch wormhole-token-bridge:2:0000…a585:269170:6d1b4c0c5f0a3e21', 'portage transfer watch --state parked'],
  run: (call: Call<ListOptions>, id: string | undefined) =>
    withInterrupt(call.context, (signal) =>
      call.withTemporal<Outcome | void>((client) =>
        id === undefined ? watchList(client, call, signal) : watchOne(client, call, id, signal),
      ),
    ),
}

/** Prints each new line of the timeline; the final status ends it. Ends early, with the status so far, at a signal. */
async function watchOne(client: TemporalClient, call: Call<ListOptions>, id: string, signal: AbortSignal): Promise<Outcome> {
  let printedUntil = 0
  for (;;) {
    const report = await readTransfer(client, id)
    const closed = 'partial' in report ? report.closedAt !== undefined : report.execution === 'COMPLETED'
    if (closed || signal.aborted) {
      const text = `${printedUntil > 0 ? '\n' : ''}${reportText(report)}`
      return { json: report, text, failed: report.state !== 'delivered' }
    }
    printedUntil = printNews(call, report, printedUntil)
    await pause(signal)
  }
}

/** Returns the time of the last line that is printed. */
function printNews({ context, globals }: Call<ListOptions>, report: TransferReport, after: number): number {
  if ('partial' in report || globals.json) return after
  // By time, not by index: a long timeline drops lines from its middle.
  const news = report.timeline.filter(({ at }) => at > after)
  for (const { at, state, note } of news) context.stdout.write(`${new Date(at).toISOString()}  ${state}  ${note}\n`)
  return news.at(-1)?.at ?? after
}

async function watchList(client: TemporalClient, { context, globals, options }: Call<ListOptions>, signal: AbortSignal): Promise<void> {
  let shown = ''
  while (!signal.aborted) {
    const transfers = await listTransfers(client, options)
    const text = rowsText(transfers)
    if (text !== shown) {
      if (context.stdout.isTTY && !globals.json) context.stdout.write('\u001b[2J\u001b[H')
      print(context, globals, { json: { transfers }, text })
      shown = text
    }
    await pause(signal)
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  await delay(pollMs, undefined, { signal }).catch(() => {})
}

function withFilter(command: Command): Command {
  return command
    .addOption(new Option('--state <state>', 'only transfers in this state').choices(transferStates))
    .option('--chain <name>', 'only transfers from or to this chain', parse.chainName)
    .option('--limit <number>', 'most rows', numberWithin(1, 10_000, 'It must be a whole number from 1 to 10000.'), 50)
}
