import { failpoint, failpointArmed } from '../../observability/failpoints.ts'
import type { Logger } from '../../observability/logger.ts'
import type { CrashSinks } from '../../workflows/crash-on-continue-as-new.ts'
import { bundleWorkflowCode, DefaultLogger, type InjectedSinks, type WorkflowBundle } from '@temporalio/worker'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createHash, randomUUID } from 'node:crypto'

const root = fileURLToPath(new URL('../../', import.meta.url))
const path = (file: string) => join(root, 'workflows', file)
const rooms = ['domain', 'temporal', 'workflows']

const bundles = new Map<boolean, Promise<WorkflowBundle>>()

/** All callers share the code, because bundling takes 2 s of CPU. `traced` adds workflows/trace-headers.ts. */
export function workflowBundle(logger: Logger, traced = false): Promise<WorkflowBundle> {
  const bundle = bundles.get(traced) ?? load(logger, traced)
  bundles.set(traced, bundle)
  return bundle
}

export function withEncodedFailures(bundle: WorkflowBundle): WorkflowBundle {
  const [before, after, ...more] = bundle.code.split('FAILURES_PLAIN')
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error('workflows/failure-converter.ts is not in the bundle once')
  // `FAILURES_CODED` is as long as `FAILURES_PLAIN`, so that the source map of stack traces stays valid.
  return { ...bundle, code: `${before}FAILURES_CODED${after}` }
}

async function load(logger: Logger, traced: boolean): Promise<WorkflowBundle> {
  const crash = failpointArmed('lane-continue-as-new') ? [path('crash-on-continue-as-new.ts')] : []
  const workflowInterceptorModules = [...(traced ? [path('trace-headers.ts')] : []), ...crash]
  const make = async () => {
    const made = await bundleWorkflowCode({
      workflowsPath: path('index.ts'),
      failureConverterPath: path('failure-converter.ts'),
      // These modules run once per thread, so they must not contain the state of a workflow
      // (test/house/workflow-modules.test.ts).
      preloadModules: [path('index.ts')],
      logger: new DefaultLogger('WARN', ({ message }) => logger.warn(message, { code: 'INTERNAL' })),
      workflowInterceptorModules,
    })
    return made.code
  }
  // A released package has this file instead of the sources.
  const released = crash.length === 0 ? await readKeptCode(join(root, 'dist', traced ? 'workflows-traced.js' : 'workflows.js')) : undefined
  if (released !== undefined) return { code: released }
  const cache = await cacheOf(workflowInterceptorModules).catch(() => undefined)
  return { code: await (cache ? cachedCode(cache, make) : make()) }
}

/** A cache in node_modules is safe: anyone who can write there can change the code anyway. */
async function cacheOf(interceptors: readonly string[]): Promise<BundleCache> {
  const temporal = (name: string) => createRequire(import.meta.url).resolve(`@temporalio/${name}/package.json`)
  const packages = join(dirname(temporal('worker')), '../..')
  const listings = await Promise.all(
    rooms.map(async (room) => (await readdir(join(root, room), { recursive: true })).map((file) => join(root, room, file))),
  )
  const sources = listings.flat().filter((file) => file.endsWith('.ts'))
  const installed = [
    join(root, 'workers/process/bundle.ts'),
    join(packages, '.package-lock.json'),
    temporal('worker'),
    temporal('workflow'),
  ]
  return {
    directory: join(packages, '.cache/portage/workflows'),
    key: await keyOf([...sources, ...installed], [root, process.version, ...interceptors]),
  }
}

/** A sink runs after the code of a task and before the task is reported, so a crash in a sink interrupts the task. */
export const crashSinks: InjectedSinks<CrashSinks> = {
  crash: { continueAsNew: { fn: () => failpoint('lane-continue-as-new'), callDuringReplay: false } },
}

const mostFiles = 8

interface BundleCache {
  /** Portage runs the files in this directory, so only users who may change the code may write to it. */
  readonly directory: string
  readonly key: string
}

export async function cachedCode({ directory, key }: BundleCache, make: () => Promise<string>): Promise<string> {
  const file = join(directory, `${key}.js`)
  const found = await readKeptCode(file)
  if (found !== undefined) return found
  const code = await make()
  await store(directory, file, code).catch(() => {})
  return code
}

/** Returns the content of a kept file: a digest, then the code. The digest reveals a corrupted file. */
export function keptCode(code: string): string {
  return `${digest(code)}\n${code}`
}

async function readKeptCode(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const end = text.indexOf('\n')
  const code = text.slice(end + 1)
  return text.slice(0, end) === digest(code) ? code : undefined
}

export async function keyOf(files: readonly string[], facts: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(facts))
  for (const file of files.toSorted((a, b) => (a < b ? -1 : 1))) hash.update(JSON.stringify([file, digest(await readFile(file, 'utf8'))]))
  return hash.digest('hex')
}

async function store(directory: string, file: string, code: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  // Processes that start together write the same bytes, so any of them may rename last.
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, keptCode(code))
  await rename(draft, file)
  await prune(directory)
}

async function prune(directory: string): Promise<void> {
  const names = await readdir(directory)
  const dated = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(directory, name))).mtimeMs })))
  const old = dated.toSorted((a, b) => b.at - a.at).slice(mostFiles)
  await Promise.all(old.map(({ name }) => rm(join(directory, name), { force: true })))
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
