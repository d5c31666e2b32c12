import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { type RecordedHistory, fixturePath, fixtures, type FixtureName } from '../test/replay/fixtures.ts'
import { recordIdempotencyKey } from '../test/replay/record-idempotency-key.ts'
import { recordLocal } from '../test/replay/record-local.ts'
import { recordNotifier } from '../test/replay/record-notifier.ts'
import { recordSettings } from '../test/replay/record-settings.ts'
import { recordBatches } from '../test/replay/record-batch.ts'
import { recordStreams } from '../test/replay/record-stream.ts'
import { recordOperatorTransactions, recordRefused } from '../test/replay/record-operator-transaction.ts'
import { recordLaneReset } from '../test/replay/record-lane.ts'
import { recordCancelByTemporal, recordStages } from '../test/replay/record-transfer.ts'
import { type Keep, recordDear, recordFar, recordNear, recordStuck } from '../test/replay/record.ts'

const help = `Usage: npx tsx scripts/record-histories.ts [<name>…]

Runs workflows on devnets, and keeps their histories in test/fixtures/histories/<version of package.json>. Default: all
histories. Every later build replays the histories (test/replay). Names: ${Object.keys(fixtures).join(', ')}
`

const recorders: readonly (readonly [readonly FixtureName[], (keep: Keep) => Promise<void>])[] = [
  [
    [
      ...(['waiting-and-retry', 'happy-near-finality', 'declined', 'cancelled-with-noop'] as const),
      ...(['lane-first-run', 'lane-continued-run', 'delivered-by-other', 'retried-after-crash'] as const),
    ],
    recordNear,
  ],
  [['broadcast-local', 'broadcast-local-then-queue'], recordLocal],
  [['operator-transaction-paid', 'operator-transaction-cancelled'], recordOperatorTransactions],
  [['batch-reported', 'batch-followed'], recordBatches],
  [['parked-by-deadline', 'nonce-left-to-its-lane'], recordStuck],
  [['waiting-for-fees', 'audit-of-delivered'], recordDear],
  [['stream-first-run', 'stream-continued-run'], recordStreams],
  [['settings-first-run'], recordSettings],
  [['notifier-first-run', 'reversal-recorded'], recordNotifier],
  [['idempotency-key-answered'], recordIdempotencyKey],
  [['lane-reset-run'], recordLaneReset],
  [['far-finality-with-confirm'], recordFar],
  [['cancelled-by-temporal'], recordCancelByTemporal],
  [['delivered-in-stages'], recordStages],
  [['operator-transaction-refused'], recordRefused],
]

/**
 * Removes identities, names of sticky queues and stack traces, because they name this machine, and replays do not need
 * them.
 */
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
    const file = fixturePath(packageJson.version, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
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
