import { setTimeout as delay } from 'node:timers/promises'
import { freshnessOf } from '../../operations/archive/freshness.ts'
import { exportOrders, lastExport, type OrderExport, verifyDay } from '../../operations/archive/orders.ts'
import { createArchiveStore } from '../../operations/archive/create-store.ts'
import type { ArchiveStore } from '../../operations/archive/store.ts'
import { type ArchivePass, archiveTransfers, readProgress } from '../../operations/archive/transfers.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { retentionHours } from '../../temporal/client/transfers/closed-runs.ts'
import { readKeptOrders } from '../../temporal/client/settings/kept-orders.ts'
import type { Call, CommandSpec } from '../command.ts'
import { withInterrupt } from '../context.ts'
import { invalid, numberWithin, parse, utcDay } from '../arguments/options.ts'
import { layoutOf, render } from '../output/layout.ts'
import { facts } from '../output/output.ts'
import { print, printError } from '../output/print.ts'

interface RunOptions {
  /** ms since the epoch. */
  readonly since?: number
  readonly every?: number
}

const hourMs = 3_600_000
const minuteMs = 60_000

export const archiveCommand: CommandSpec = {
  description: 'Keep what Temporal forgets: the results of closed transfers, and who ordered what (archive of the config).',
  commands: {
    run: {
      description: 'Write what has closed, and what was ordered, since the last pass. The same pass again writes nothing.',
      options: (command) =>
        command
          .option(
            '--since <time>',
            'look from this time on, in UTC (default: an hour before the end of the last pass; the first time all that Temporal has)',
            parse.pastTime,
          )
          .option(
            '--every <minutes>',
            'go on until SIGTERM or Ctrl-C: a pass every so many minutes; with --json one object per line on stdout for each pass',
            numberWithin(1, 1_440),
          ),
      notes: `For cron, or a CronJob: one pass, exit code 1 if it failed or if orders may be missing. Nothing waits for it: transfers are delivered and
closed without it, and a pass that failed is made good by the next. Orders that lanes and streams keep need a worker of the ledger. Two
passes at a time do the work twice, and lose nothing. One with a --since after the end of what is archived does not move that end: the next pass begins there.`,
      examples: ['portage archive run', 'portage archive run --every 10', 'portage archive run --since 2026-11-20 --json'],
      run: (call: Call<RunOptions>) => call.withTemporal((client, config) => run(call, client, config)),
    },
    show: {
      description: 'How far the archive goes, and how much of the retention has passed since. Ends with 1 once half of it has.',
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
      description: 'Check that no line of the log of orders of a day was changed, added or taken out.',
      options: (command) => command.argument('<day>', 'in UTC: 2026-11-22', utcDay),
      notes:
        'The head that it shows is the hash of the last line: compare it with the one that archive run showed, kept elsewhere, to see that no line was cut off at the end.',
      examples: ['portage archive verify 2026-11-22 --json'],
      run: async ({ config }: Call, which: string) => {
        const found = await verifyDay(storeOf(await config()), which)
        return { json: { day: which, ...found }, text: facts({ day: which, ...found }) }
      },
    },
  },
}

/** Throws INPUT_INVALID where the config has no archive. */
function storeOf({ archive }: Config): ArchiveStore {
  if (!archive) throw invalid('archive is not in the config: it says where the archive is.')
  return createArchiveStore(archive)
}

async function run({ context, globals, options: { since, every } }: Call<RunOptions>, client: TemporalClient, config: Config) {
  const store = storeOf(config)
  if (every === undefined) return outcome(await pass(client, store, since))
  return withInterrupt(context, async (interrupted) => {
    for (let from = since; !interrupted.aborted;) {
      try {
        const done = outcome(await pass(client, store, from))
        from = undefined
        if (globals.json) print(context, globals, done)
        else context.stderr.write(`${render(done.text, layoutOf(context, globals))}\n`)
      } catch (error) {
        // It is made again; what it did is kept.
        printError(context, globals, error)
      }
      await delay(every * minuteMs, undefined, { signal: interrupted }).catch(() => {})
    }
    return globals.json ? undefined : { json: {}, text: 'ended' }
  })
}

interface Pass {
  readonly transfers: ArchivePass
  readonly orders: OrderExport
}

async function pass(client: TemporalClient, store: ArchiveStore, since: number | undefined): Promise<Pass> {
  const now = Date.now()
  const oldest = now - (await retentionHours(client)) * hourMs
  const ordersThrough = await lastExport(store)
  const transfers = await archiveTransfers(client, store, { since, ordersThrough, oldest, now })
  const from = Date.parse(transfers.from)
  const kept = await readKeptOrders(client, from)
  // Of what closed between the last export and a later `since` nobody has asked.
  const through = from > Math.max(oldest, ordersThrough) ? undefined : now
  return { transfers, orders: await exportOrders(store, [...kept, ...transfers.orders], through) }
}

function outcome({ transfers: { orders: _, ...transfers }, orders }: Pass) {
  const { from, through = 'nothing yet', leftOut, found, added, unreadable } = transfers
  const { maybeIncomplete: missing, skipped } = orders
  const text = facts({
    archived: through,
    ...(leftOut && { 'left out': `what closed before ${from}: the next pass without --since looks there` }),
    transfers: `${found} closed, ${added} new`,
    orders: `${orders.found} kept, ${orders.added} new`,
    ...(unreadable > 0 && {
      unreadable: `${unreadable} without an outcome: their lines say why (docs/operate/archive.md, "When a pass reports a problem")`,
    }),
    ...(missing.length > 0 && { 'orders may be missing of': missing.join(', ') }),
    ...(skipped.length > 0 && { 'orders that are none skipped of': skipped.join(', ') }),
  })
  return { json: { transfers, orders }, text, failed: unreadable > 0 || missing.length > 0 || skipped.length > 0 }
}
