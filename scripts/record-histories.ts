import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Stage } from '../test/helpers/e2e.ts'
import type { RecordedHistory } from '../test/replay/fixtures.ts'
import { fixturePath, fixtures, type FixtureName } from '../test/replay/fixtures.ts'
import { recordSettings } from '../test/replay/record-settings.ts'
import { recordBatches } from '../test/replay/record-batch.ts'
import { recordStreams } from '../test/replay/record-stream.ts'
import { recordOperatorTransactions } from '../test/replay/record-operator-transaction.ts'
import { recordLaneReset } from '../test/replay/record-lane.ts'
import { recordFar, recordNear, recordStuck } from '../test/replay/record.ts'

const help = `Usage: npx tsx scripts/record-histories.ts [<name>…]

Runs the workflows on devnets and keeps their histories in test/fixtures/histories, all of them or those that are named. What is kept is
replayed by every later build (test/replay). Names: ${Object.keys(fixtures).join(', ')}
`

/** Where this machine shows in a history: worker identities, names of sticky queues, stack traces. None of it takes part in a replay. */
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
  const keep = async (name: FixtureName, stage: Pick<Stage, 'temporal'>, workflowId: string, runId?: string) => {
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
  const far: FixtureName = 'far-finality-with-confirm'
  const settings: FixtureName = 'settings-first-run'
  const streams: FixtureName[] = ['stream-first-run', 'stream-continued-run']
  const operatorTransactions: FixtureName[] = ['operator-transaction-paid', 'operator-transaction-cancelled']
  const batches: FixtureName[] = ['batch-told', 'batch-seen-to']
  const stuck: FixtureName[] = ['parked-by-deadline', 'nonce-left-to-its-lane']
  const reset: FixtureName = 'lane-reset-run'
  const apart = new Set<string>([far, settings, reset, ...operatorTransactions, ...batches, ...streams, ...stuck])
  if (names.length === 0 || names.some((name) => !apart.has(name))) await recordNear(keep)
  if (names.length === 0 || names.some((name) => operatorTransactions.some((one) => one === name))) await recordOperatorTransactions(keep)
  if (names.length === 0 || names.some((name) => batches.some((one) => one === name))) await recordBatches(keep)
  if (names.length === 0 || names.some((name) => stuck.some((one) => one === name))) await recordStuck(keep)
  if (names.length === 0 || names.some((name) => streams.some((one) => one === name))) await recordStreams(keep)
  if (names.length === 0 || names.includes(settings)) await recordSettings(keep)
  if (names.length === 0 || names.includes(reset)) await recordLaneReset(keep)
  if (names.length === 0 || names.includes(far)) await recordFar(keep)
  const missing = (names.length > 0 ? names : Object.keys(fixtures)).filter((name) => !kept.includes(name))
  if (missing.length > 0) process.stderr.write(`Not recorded: ${missing.join(', ')}\n`)
  return missing.length > 0 ? 1 : 0
}

process.exitCode = await main(process.argv.slice(2))
