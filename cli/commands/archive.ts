import { poll } from '../../runtime/wait.ts'
import { archiveTransfers, freshnessOf, readProgress } from '../../operations/archive/transfers.ts'
import { exportOrders, lastExport, verifyDay } from '../../operations/archive/orders.ts'
import { createArchiveStore } from '../../operations/archive/create-store.ts'
import type { ArchiveStore } from '../../operations/archive/store.ts'
import { invalid } from '../../operations/orders/spec.ts'
import { orderedNames } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { retentionHours } from '../../temporal/client/transfers/closed-runs.ts'
import { type OrderedNames, readKeptOrders } from '../../temporal/client/settings/kept-orders.ts'
import type { Call, CommandSpec } from '../command.ts'
import { withInterrupt } from '../context.ts'
import { numberWithin, parse, utcDay } from '../arguments/options.ts'
import { widthOf, render } from '../output/layout.ts'
import { facts } from '../output/output.ts'
import { print, printError } from '../output/print.ts'

type RunOptions = { readonly since?: number; readonly every?: number }

const hourMs = 3_600_000
const minuteMs = 60_000

export const archiveCommand: CommandSpec = {
  description: 'Keep records longer than Temporal: the results of closed transfers, and all orders (archive in the config).',
  commands: {
    run: {
      description: 'Write the transfers that closed and the orders that were given since the last pass. No record is written twice.',
      options: (command) =>
        command
          .option(
            '--since <time>',
            'start at this time, in UTC (default: an hour before the end of the last pass; for the first pass, the time of the oldest record that Temporal may still have)',
            parse.pastTime,
          )
          .option(
            '--every <minutes>',
            'repeat until SIGTERM or Ctrl-C, at this interval; with --json one line on stdout for each pass',
            numberWithin(1, 1_440),
          ),
      notes: `The command makes one pass, for cron or a CronJob. The exit code is 1 if the pass failed or if orders may be missing. The next pass makes
up for a failed pass. The command reads the orders of lanes and streams through workers of the role ledger. Two passes at the same
time do the work twice, but lose nothing. If --since is after the end of the archive, the end does not move, and the next pass begins at the
old end.`,
      examples: ['portage archive run', 'portage archive run --every 10', 'portage archive run --since 2026-11-20 --json'],
      run: (call: Call<RunOptions>) => call.withTemporal((client, config) => run(call, client, config)),
    },
    show: {
      description:
        'The end of the archive, and how much of the retention time of Temporal has passed since the end. The exit code is 1 if half of the retention time has passed.',
      examples: ['portage archive show --json'],
      run: ({ withTemporal }: Call) =>
        withTemporal(async (client, config) => {
          const freshness = freshnessOf(await readProgress(storeOf(config)), await retentionHours(client), Date.now())
          const { through = 'nothing yet', behindHours: behind, retentionHours: kept, state } = freshness
          const text = facts({ archived: through, behind: `${behind} h`, retention: `${kept} h`, state })
          return { json: freshness, text, failed: state !== 'fresh' }
        }),
    },
    verify: {
      description: 'Check that no line of the log of orders of a day was changed, added or removed.',
      options: (command) => command.argument('<day>', 'in UTC: 2026-11-22', utcDay),
      notes:
        'The head is the hash of the last line. If lines at the end were removed, the head differs from the head that archive run printed.',
      examples: ['portage archive verify 2026-11-22 --json'],
      run: async ({ config }: Call, which: string) => {
        const found = await verifyDay(storeOf(await config()), which)
        return { json: { day: which, ...found }, text: facts({ day: which, ...found }) }
      },
    },
  },
}

function storeOf({ archive }: Config): ArchiveStore {
  if (!archive) throw invalid('The config has no `archive`, which names the place.')
  return createArchiveStore(archive)
}

async function run({ context, globals, options: { since, every } }: Call<RunOptions>, client: TemporalClient, config: Config) {
  const store = storeOf(config)
  const names = orderedNames(config)
  if (every === undefined) return outcome(await pass(client, store, names, since))
  return withInterrupt(context, async (interrupted) => {
    let from = since
    const round = async () => {
      const done = outcome(await pass(client, store, names, from))
      from = undefined
      if (globals.json) print(context, globals, done)
      else context.stderr.write(`${render(done.text, widthOf(context, globals))}\n`)
    }
    // A failed pass does not end the command: the next pass reads the same period again.
    const onError = (error: unknown) => printError(context, globals, error)
    await poll(round, { everyMs: every * minuteMs, signal: interrupted, onError })
    return globals.json ? undefined : { json: {}, text: 'ended' }
  })
}

async function pass(client: TemporalClient, store: ArchiveStore, names: OrderedNames, since: number | undefined) {
  const now = Date.now()
  const oldest = now - (await retentionHours(client)) * hourMs
  const ordersThrough = await lastExport(store)
  const transfers = await archiveTransfers(client, store, { since, ordersThrough, oldest, now })
  const from = Date.parse(transfers.from)
  const kept = await readKeptOrders(client, names, from)
  // The log is complete only if `from` is not after the last export, or not after Temporal's oldest record.
  const through = from > Math.max(oldest, ordersThrough) ? undefined : now
  return { transfers, orders: await exportOrders(store, [...kept, ...transfers.orders], through) }
}

function outcome({ transfers: { orders: _, ...transfers }, orders }: Awaited<ReturnType<typeof pass>>) {
  const { from, through = 'nothing yet', leftOut, found, added, unreadable } = transfers
  const { maybeIncomplete: missing, skipped } = orders
  const text = facts({
    archived: through,
    ...(leftOut && { 'left out': `transfers that closed before ${from}: the next pass without --since reads them` }),
    transfers: `${found} closed, ${added} new`,
    orders: `${orders.found} kept, ${orders.added} new`,
    ...(unreadable > 0 && {
      unreadable: `${unreadable} without an outcome: their lines say why (docs/operate/archive.md, "When a pass reports a problem")`,
    }),
    ...(missing.length > 0 && { 'orders may be missing of': missing.join(', ') }),
    ...(skipped.length > 0 && { 'malformed orders skipped of': skipped.join(', ') }),
  })
  return { json: { transfers, orders }, text, failed: unreadable > 0 || missing.length > 0 || skipped.length > 0 }
}
