import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type RecordedHistory, fixturePath, fixtures, type FixtureName } from '../test/replay/fixtures.ts'
import { recordIdempotencyKey } from '../test/replay/record-idempotency-key.ts'
import { recordNearAtHand } from '../test/replay/record-near.ts'
import { recordNotifier } from '../test/replay/record-notifier.ts'
import { recordSettings } from '../test/replay/record-settings.ts'
import { recordBatches } from '../test/replay/record-batch.ts'
import { recordStreams } from '../test/replay/record-stream.ts'
import { recordOperatorTransactions } from '../test/replay/record-operator-transaction.ts'
import { recordLaneReset } from '../test/replay/record-lane.ts'
import { recordCancelled, recordRefused, recordStreamAside } from '../test/replay/record-patches.ts'
import { recordCancelByTemporal, recordCode } from '../test/replay/record-transfer.ts'
import { type Keep, recordDear, recordFar, recordNear, recordStuck } from '../test/replay/record.ts'

const help = `Usage: npx tsx scripts/record-histories.ts [<name>…]

Runs the workflows on devnets and keeps their histories in test/fixtures/histories, all of them or those that are named. Every later build
replays them (test/replay). Names: ${Object.keys(fixtures).join(', ')}
`

/** Which recording keeps which histories. */
const recorders: readonly (readonly [readonly FixtureName[], (keep: Keep) => Promise<void>])[] = [
  [
    [
      ...(['waiting-and-retry', 'happy-near-finality', 'declined', 'cancelled-with-noop'] as const),
      ...(['lane-first-run', 'lane-continued-run', 'delivered-by-other', 'retried-after-crash'] as const),
    ],
    recordNear,
  ],
  [['broadcast-near', 'broadcast-near-then-queue'], recordNearAtHand],
  [['operator-transaction-paid', 'operator-transaction-cancelled'], recordOperatorTransactions],
  [['batch-told', 'batch-seen-to'], recordBatches],
  [['parked-by-deadline', 'nonce-left-to-its-lane'], recordStuck],
  [['waiting-for-fees', 'audit-of-delivered'], recordDear],
  [['stream-first-run', 'stream-continued-run'], recordStreams],
  [['settings-first-run'], recordSettings],
  [['notifier-first-run', 'reversal-recorded'], recordNotifier],
  [['idempotency-key-answered'], recordIdempotencyKey],
  [['lane-reset-run'], recordLaneReset],
  [['far-finality-with-confirm'], recordFar],
  [['stream-aside'], recordStreamAside],
  [['cancelled-by-nonces'], recordCancelled],
  [['waiting-with-code'], recordCode],
  [['ended-by-temporal'], recordCancelByTemporal('ended-by-temporal')],
  [['cancelled-by-temporal'], recordCancelByTemporal('cancelled-by-temporal')],
  [['operator-transaction-refused'], recordRefused('operator-transaction-refused')],
  [['operator-transaction-refused-later'], recordRefused('operator-transaction-refused-later')],
]

/** Removes what names this machine: worker identities, names of sticky queues, stack traces. A replay uses none of it. */
function anonymous(text: string): string {
  const clean = (key: string, value: unknown) => {
    if (key === 'stackTrace') return ''
    return typeof value === 'string' && /^\d+@/.test(value) ? 'portage' : value
  }
  const { events } = JSON.parse(text, clean) as RecordedHistory
  return `{"events":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`
}

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !Object.hasOwn(fixtures, name))
  if (unknown.length > 0) {
    process.stderr.write(help)
    return names.includes('--help') ? 0 : 2
  }
  const kept: string[] = []
  const keep: Keep = async (name, stage, workflowId, runId) => {
    if (names.length > 0 && !names.includes(name)) return
    const { stdout } = await stage.temporal('workflow', 'show', '-w', workflowId, ...(runId ? ['-r', runId] : []), '--output', 'json')
    const text = anonymous(stdout)
    const history = JSON.parse(text) as RecordedHistory
    if (!fixtures[name].shows(history)) throw new Error(`The run for ${name} does not show what it is kept for:\n${text}`)
    await mkdir(dirname(fixturePath(name)), { recursive: true })
    await writeFile(fixturePath(name), text)
    kept.push(name)
    process.stdout.write(`${name}: ${history.events.length} events, ${text.length} bytes\n`)
  }
  for (const [recorded, record] of recorders) {
    if (names.length === 0 || recorded.some((name) => names.includes(name))) await record(keep)
  }
  const missing = (names.length > 0 ? names : Object.keys(fixtures)).filter((name) => !kept.includes(name))
  if (missing.length > 0) process.stderr.write(`Not recorded: ${missing.join(', ')}\n`)
  return missing.length > 0 ? 1 : 0
}

process.exitCode = await main(process.argv.slice(2))
