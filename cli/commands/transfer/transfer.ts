import { readTransfer, transactionsOf, type TransferReport, withProfits } from '../../../temporal/client/transfers/transfers.ts'
import type { Call, CommandSpec } from '../../command.ts'
import type { Outcome } from '../../output/output.ts'
import { filterOf, type FilterOptions, findTransfer, selectionOf, transferForms, withFilter } from '../../arguments/subjects.ts'
import { reportText, rowsText } from '../../output/transfer-text.ts'
import { transferOrderCommands } from './transfer-orders.ts'
import { submit } from './transfer-submit.ts'
import { pause } from '../../../runtime/wait.ts'
import type { Command } from 'commander'
import { harmless } from '../../../domain/text/printable.ts'
import type { Config } from '../../../config/schema/schema.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import { listTransfers, type TransferRow } from '../../../temporal/client/transfers/transfer-list.ts'
import { withInterrupt } from '../../context.ts'
import { render, widthOf } from '../../output/layout.ts'
import { createLiveText, print } from '../../output/print.ts'
import { numberWithin } from '../../arguments/options.ts'

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
      run: ({ withTemporal }, given: string) =>
        withTemporal(async (client, config) => {
          const report = await readTransfer(client, await findTransfer(client, config, given))
          const transactions = 'partial' in report ? [] : await transactionsOf(client, report)
          return { json: { ...report, transactions }, text: reportText(report, config, transactions) }
        }),
    },
    list: {
      description: 'Transfers, newest first.',
      options: withSelection,
      examples: [
        'portage transfer list --state parked',
        'portage transfer list --blocked 3h --target ethereum',
        'portage transfer list --lane 0x5290…9ee7 --nonce 118 --chain ethereum',
        'portage transfer list --code LANE_NONE --limit 200 --json',
      ],
      notes: 'With --wide, the list also shows the amounts, the payments, and the profits of delivered paid requests.',
      run: async ({ withTemporal, options, globals }: Call<ListOptions>) => {
        const transfers = await withTemporal(async (client, config) => {
          const rows = await select(client, config, options)
          return globals.wide ? withProfits(client, rows) : rows
        })
        return { json: { transfers }, text: rowsText(transfers) }
      },
    },
    watch: {
      description: 'Follow one transfer to its end, or all transfers that match until SIGINT.',
      options: (command) =>
        withSelection(command).argument('[id]', `transfer: ${transferForms}; without an id, the command prints the list at each change`),
      notes: `With an id, the exit code is 0 if the transfer ends as delivered, else 1, and --json prints one object: the final status.
Without an id, --json prints one object per change.`,
      examples: ['portage transfer watch 6d1b4c0c5f0a3e21', 'portage transfer watch --state parked'],
      run: (call: Call<ListOptions>, id: string | undefined) =>
        withInterrupt(call.context, (signal) =>
          call.withTemporal<Outcome | void>((client, config) =>
            id === undefined ? watchList(client, config, call, signal) : watchOne(client, config, call, id, signal),
          ),
        ),
    },
    ...transferOrderCommands,
  },
}

type ListOptions = FilterOptions & { readonly limit: number }

const pollMs = 1_000

async function select(client: TemporalClient, config: Config, options: ListOptions): Promise<TransferRow[]> {
  return listTransfers(client, { ...(await filterOf(client, config, selectionOf(options))), limit: options.limit })
}

/** Prints new lines of the timeline, but not with --json. Returns the status at the transfer's end or at a signal. */
async function watchOne(client: TemporalClient, config: Config, call: Call<ListOptions>, given: string, signal: AbortSignal) {
  const id = await findTransfer(client, config, given)
  let printedUntil = 0
  for (;;) {
    const report = await readTransfer(client, id)
    const closed = 'partial' in report ? report.closedAt !== undefined : report.execution === 'COMPLETED'
    if (closed || signal.aborted) {
      if (printedUntil > 0) call.context.stdout.write('\n')
      const text = reportText(report, config, 'partial' in report ? [] : report.transactions)
      return { json: report, text, failed: report.state !== 'delivered' }
    }
    printedUntil = printNews(call, report, printedUntil)
    await pause(pollMs, signal)
  }
}

function printNews({ context, globals }: Call<ListOptions>, report: TransferReport, after: number): number {
  if ('partial' in report || globals.json) return after
  // Compares times, not positions, because a long timeline loses lines in its middle.
  const news = report.timeline.filter(({ at }) => at > after)
  for (const { at, state, note } of news) context.stdout.write(`${new Date(at).toISOString()}  ${state}  ${harmless(note)}\n`)
  return news.at(-1)?.at ?? after
}

async function watchList(client: TemporalClient, config: Config, call: Call<ListOptions>, signal: AbortSignal): Promise<void> {
  const { context, globals, options } = call
  const live = globals.json ? undefined : createLiveText(context.stdout)
  let shown = ''
  while (!signal.aborted) {
    const transfers = await select(client, config, options)
    const now = JSON.stringify(transfers)
    const text = rowsText(transfers)
    if (live) live.show(render(text, widthOf(context, globals)))
    else if (now !== shown) print(context, globals, { json: { transfers }, text })
    shown = now
    await pause(pollMs, signal)
  }
  live?.end()
}

function withSelection(command: Command): Command {
  return withFilter(command).option('--limit <number>', 'show at most this many rows', numberWithin(1, 10_000), 50)
}
