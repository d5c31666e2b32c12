import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { harmless } from '../../../domain/text/printable.ts'
import type { Config } from '../../../config/schema/schema.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import { listTransfers, type TransferRow } from '../../../temporal/client/transfers/transfer-list.ts'
import { readTransfer, type TransferReport } from '../../../temporal/client/transfers/transfers.ts'
import type { Call, CommandSpec, Outcome } from '../../command.ts'
import { withInterrupt } from '../../context.ts'
import { layoutOf, render } from '../../output/layout.ts'
import { createLiveText } from '../../output/live.ts'
import { numberWithin } from '../../arguments/options.ts'
import { print } from '../../output/print.ts'
import { type FilterOptions, filterOf, selectionOf, withFilter } from '../../arguments/transfer-filter.ts'
import { findTransfer, transferForms } from '../../arguments/transfer-ids.ts'
import { reportText, rowsText } from '../../output/transfer-text.ts'

type ListOptions = FilterOptions & { readonly limit: number }

export const list: CommandSpec = {
  description: 'Transfers, newest first.',
  options: withSelection,
  examples: [
    'portage transfer list --state parked',
    'portage transfer list --blocked 3h --target ethereum',
    'portage transfer list --lane 0x5290…9ee7 --nonce 118 --chain ethereum',
    'portage transfer list --code LANE_NONE --limit 200 --json',
  ],
  run: async ({ withTemporal, options }: Call<ListOptions>) => {
    const transfers = await withTemporal((client, config) => select(client, config, options))
    return { json: { transfers }, text: rowsText(transfers) }
  },
}

/** ms. A query costs a worker's time. */
const pollMs = 1_000

export const watch: CommandSpec = {
  description: 'Follow one transfer to its end, or all that match until SIGINT.',
  options: (command) =>
    withSelection(command).argument('[id]', `transfer: ${transferForms}; without one, the list is printed at each change`),
  notes: `With an id, the exit code is 0 if the transfer ends delivered, else 1; with --json, one object: the final status.
Without one, --json prints one object per change.`,
  examples: ['portage transfer watch 6d1b4c0c5f0a3e21', 'portage transfer watch --state parked'],
  run: (call: Call<ListOptions>, id: string | undefined) =>
    withInterrupt(call.context, (signal) =>
      call.withTemporal<Outcome | void>(async (client, config) =>
        id === undefined
          ? watchList(client, config, call, signal)
          : watchOne(client, config, call, await findTransfer(client, config, id), signal),
      ),
    ),
}

async function select(client: TemporalClient, config: Config, options: ListOptions): Promise<TransferRow[]> {
  return listTransfers(client, { ...(await filterOf(client, config, selectionOf(options))), limit: options.limit })
}

/** Prints each new line of the timeline, then the final status; at a signal the status so far. */
async function watchOne(
  client: TemporalClient,
  config: Config,
  call: Call<ListOptions>,
  id: string,
  signal: AbortSignal,
): Promise<Outcome> {
  let printedUntil = 0
  for (;;) {
    const report = await readTransfer(client, id)
    const closed = 'partial' in report ? report.closedAt !== undefined : report.execution === 'COMPLETED'
    if (closed || signal.aborted) {
      if (printedUntil > 0) call.context.stdout.write('\n')
      return {
        json: report,
        text: reportText(report, config, 'partial' in report ? [] : report.transactions),
        failed: report.state !== 'delivered',
      }
    }
    printedUntil = printNews(call, report, printedUntil)
    await pause(signal)
  }
}

function printNews({ context, globals }: Call<ListOptions>, report: TransferReport, after: number): number {
  if ('partial' in report || globals.json) return after
  // By time: a long timeline drops middle lines.
  const news = report.timeline.filter(({ at }) => at > after)
  for (const { at, state, note } of news) context.stdout.write(`${new Date(at).toISOString()}  ${state}  ${harmless(note)}\n`)
  return news.at(-1)?.at ?? after
}

/** Redraws on a terminal. Elsewhere, and with --json, prints each change. */
async function watchList(client: TemporalClient, config: Config, call: Call<ListOptions>, signal: AbortSignal): Promise<void> {
  const { context, globals, options } = call
  const live = globals.json ? undefined : createLiveText(context.stdout)
  let shown = ''
  while (!signal.aborted) {
    const transfers = await select(client, config, options)
    const now = JSON.stringify(transfers)
    if (live) live.show(render(rowsText(transfers), layoutOf(context, globals)))
    else if (now !== shown) print(context, globals, { json: { transfers }, text: rowsText(transfers) })
    shown = now
    await pause(signal)
  }
  live?.end()
}

async function pause(signal: AbortSignal): Promise<void> {
  await delay(pollMs, undefined, { signal }).catch(() => {})
}

function withSelection(command: Command): Command {
  return withFilter(command).option(
    '--limit <number>',
    'most rows',
    numberWithin(1, 10_000, 'It must be a whole number from 1 to 10000.'),
    50,
  )
}
