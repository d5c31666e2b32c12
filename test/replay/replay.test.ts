import { fileURLToPath } from 'node:url'
import { DeterminismViolationError } from '@temporalio/workflow'
import { bundleWorkflowCode, DefaultLogger, Worker, type ReplayResult, type WorkflowBundle } from '@temporalio/worker'
import { beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { silentLogger } from '../../observability/logger.ts'
import { workflowBundle } from '../../workers/process/bundle.ts'
import { installRuntime } from '../../workers/process/temporal.ts'
import { fixtures, type FixtureName, readFixture, recordedNames, recordedReleases } from './fixtures.ts'

const names = Object.keys(fixtures) as FixtureName[]
const releases = recordedReleases()
const newest = releases.at(-1)!
const all = releases.flatMap((release) => recordedNames(release).map((name) => ({ release, name })))

/** Returns the error of each history, by `<release>/<name>`. Undefined if the replay matches. */
async function replay(bundle: WorkflowBundle, wanted: typeof all): Promise<Map<string, ReplayResult['error']>> {
  const histories = await Promise.all(
    wanted.map(async ({ release, name }) => ({ workflowId: `${release}/${name}`, history: await readFixture(release, name) })),
  )
  const results = new Map<string, ReplayResult['error']>()
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: bundle }, histories)) results.set(workflowId, error)
  return results
}

describe('recorded histories', () => {
  let bundle: WorkflowBundle
  const replayed = new Map(all.map(({ release, name }) => [`${release}/${name}`, undefined]))

  beforeAll(async () => {
    // The SDK would log each workflow that does not match. The tests report these workflows.
    await installRuntime(silentLogger())
    bundle = await workflowBundle(silentLogger())
  })

  test('the newest release with histories has one of each fixture, and no release is newer than the package', () => {
    expect(recordedNames(newest).toSorted()).toEqual(names.toSorted())
    expect([newest, packageJson.version].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))[0]).toBe(newest)
  })

  test.each(all)('$release/$name shows what it is kept for, and does not name the machine that recorded it', async ({ release, name }) => {
    const history = await readFixture(release, name)
    expect(fixtures[name].shows(history)).toBe(true)
    // By default, identities and sticky queues contain process ids and host names, which a recording must not have.
    const text = JSON.stringify(history)
    expect(text).toContain('"identity":"portage"')
    expect(text.match(/"\d+@[^"]*"|"stackTrace":"[^"]+"/g)).toBeNull()
  })

  test('this build replays the histories of every release', async () => {
    expect(await replay(bundle, all)).toEqual(replayed)
  })

  test('this build replays the histories with tracing too, which changes no command', async () => {
    expect(await replay(await workflowBundle(silentLogger(), true), all)).toEqual(replayed)
  })

  test('a build with another sequence of commands fails only the histories of the changed workflow', async () => {
    const workflowsPath = fileURLToPath(new URL('./incompatible/index.ts', import.meta.url))
    const incompatible = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR', () => {}) })
    const results = await replay(incompatible, all)
    expect(results.get(`${newest}/happy-near-finality`)).toBeInstanceOf(DeterminismViolationError)
    const failed = [...results].filter(([, error]) => error !== undefined).map(([name]) => name)
    const changed = all.filter(({ name }) => fixtures[name].workflow === 'transfer').map(({ release, name }) => `${release}/${name}`)
    expect(failed.toSorted()).toEqual(changed.toSorted())
  })
})
