import { readdir } from 'node:fs/promises'
import { dirname, basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DeterminismViolationError } from '@temporalio/workflow'
import { bundleWorkflowCode, DefaultLogger, Worker, type ReplayResult, type WorkflowBundle } from '@temporalio/worker'
import { beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../observability/logger.ts'
import { workflowBundle } from '../../workers/process/bundle.ts'
import { installRuntime } from '../../workers/process/temporal.ts'
import { fixturePath, fixtures, readFixture, type FixtureName } from './fixtures.ts'

const names = Object.keys(fixtures) as FixtureName[]

/** The results by fixture. A replay that fails has its error in the result; nothing is thrown. */
async function replay(bundle: WorkflowBundle, wanted: readonly FixtureName[]): Promise<Map<string, ReplayResult>> {
  const histories = await Promise.all(wanted.map(async (name) => ({ workflowId: name, history: await readFixture(name) })))
  const results = new Map<string, ReplayResult>()
  for await (const result of Worker.runReplayHistories({ workflowBundle: bundle }, histories)) results.set(result.workflowId, result)
  return results
}

describe('Recorded histories', () => {
  let bundle: WorkflowBundle

  beforeAll(async () => {
    // The SDK tells of each workflow that does not match; here the tests do.
    await installRuntime(silentLogger())
    bundle = await workflowBundle(silentLogger())
  })

  test('every file has a meaning, and every meaning a file', async () => {
    const files = await readdir(dirname(fixturePath('declined')))
    expect(files.toSorted()).toEqual(names.map((name) => basename(fixturePath(name))).toSorted())
  })

  test.each(names)('%s shows what it is kept for, and nothing of the machine that recorded it', async (name) => {
    const history = await readFixture(name)
    expect(fixtures[name].shows(history)).toBe(true)
    // Process ids and host names stand in worker identities and names of sticky queues.
    const text = JSON.stringify(history)
    expect(text).toContain('"identity":"portage"')
    expect(text.match(/"\d+@[^"]*"|"stackTrace":"[^"]+"/g)).toBeNull()
  })

  test('this build replays all of them', async () => {
    const results = await replay(bundle, names)
    expect([...results.keys()].toSorted()).toEqual(names.toSorted())
    expect([...results].map(([name, { error }]) => [name, error])).toEqual([...results.keys()].map((name) => [name, undefined]))
  })

  test('this build replays all of them with tracing on, too: it changes no command', async () => {
    const results = await replay(await workflowBundle(silentLogger(), true), names)
    expect([...results].map(([name, { error }]) => [name, error])).toEqual([...results.keys()].map((name) => [name, undefined]))
    expect(results.size).toBe(names.length)
  })

  test('a build with another order of commands fails the histories of the workflow that it changed, and only these', async () => {
    const workflowsPath = fileURLToPath(new URL('./incompatible/index.ts', import.meta.url))
    const incompatible = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR', () => {}) })
    const results = await replay(incompatible, names)
    expect(results.get('happy-near-finality')?.error).toBeInstanceOf(DeterminismViolationError)
    const failed = [...results].filter(([, { error }]) => error !== undefined).map(([name]) => name)
    expect(failed.toSorted()).toEqual(names.filter((name) => fixtures[name].workflow === 'transfer').toSorted())
  })
})
