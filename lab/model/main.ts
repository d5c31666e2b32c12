import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { mapLimited } from '../../runtime/map-limited.ts'
import { LaneReplay } from './lane-replay.ts'
import { type Mutant, mutants, withChanges } from './mutants.ts'
import { type ModelName, type ModelOptions, modelNames, parseOptions } from './options.ts'
import { type Drift, type Replay, type Replayed, replayFolder } from './replay.ts'
import { laneRuns, modules, type Scope, scopes, streamRuns } from './scopes.ts'
import { StreamReplay } from './stream-replay.ts'
import { runTlc, type TlcResult } from './tlc.ts'
import { findTlc } from './tools.ts'

interface Summary {
  readonly passed: boolean
  readonly scopes: readonly (Scope & TlcResult)[]
  readonly mutants: readonly (Pick<Mutant, 'name' | 'violates'> & { readonly found: string; readonly seconds: number })[]
  readonly replays: readonly (Replayed & { readonly model: ModelName; readonly missing: readonly string[]; readonly seconds: number })[]
}

const sources = fileURLToPath(new URL('.', import.meta.url))
const runDepth = 60

/** Models whose random runs a reducer repeats. Each of the `actions` must occur in at least one run. */
const replays: Readonly<
  Record<ModelName, { readonly config: string; readonly variable: string; readonly actions: readonly string[]; begin: () => Replay }>
> = {
  lane: {
    ...{ config: 'lane-runs.cfg', variable: 'ledger', begin: () => new LaneReplay(laneRuns) },
    actions: ['Ask', 'AskLate', 'Repeat', 'Release', 'Hear', 'Record', 'Observe', 'Withdraw', 'Backup', 'Lose'],
  },
  stream: {
    ...{ config: 'stream-runs.cfg', variable: 'ledger', begin: () => new StreamReplay(streamRuns) },
    actions: ['Seen', 'Scan', 'Backfill', 'Audit', 'Complete', 'Close', 'Skip', 'Unskip', 'Revert', 'Save', 'Backup', 'Lose'],
  },
}

async function check({ only, traces, seed, json }: ModelOptions): Promise<number> {
  const tlc = await findTlc()
  if ('why' in tlc) {
    process.stdout.write(`NOT RUN: the models: ${tlc.why}\n`)
    return 0
  }
  const say = (line: string) => void process.stderr.write(`${line}\n`)
  const isChosen = ({ model }: { readonly model: ModelName }) => only === undefined || model === only
  const folder = await mkdtemp(join(tmpdir(), 'portage-model-'))
  try {
    for (const [from, end] of [
      [sources, '.tla'],
      [join(sources, 'bounds'), '.cfg'],
    ] as const) {
      for (const name of await readdir(from)) if (name.endsWith(end)) await copyFile(join(from, name), join(folder, name))
    }
    const checker = { jar: tlc.jar, folder, say }
    const summary = {
      scopes: await mapLimited(scopes.filter(isChosen), 1, (scope) => checkScope(checker, scope)),
      // Each mutant uses one core, mostly for the start of Java, so all cores check mutants in parallel.
      mutants: await mapLimited(mutants.filter(isChosen), cpus().length, (mutant) => checkMutant(checker, mutant)),
      replays: await mapLimited(
        modelNames.filter((model) => isChosen({ model })),
        cpus().length,
        (model) => replayRuns(checker, model, { traces, seed }),
      ),
    }
    const passed = isClean(summary)
    if (json) process.stdout.write(`${JSON.stringify({ passed, ...summary } satisfies Summary)}\n`)
    else say(passed ? 'All rules hold, every mutant was found, and the reducers agree with the models' : 'FAILED')
    return passed ? 0 : 1
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface Checker {
  readonly jar: string
  readonly folder: string
  say(line: string): void
}

async function checkScope({ jar, folder, say }: Checker, scope: Scope): Promise<Scope & TlcResult> {
  const result = await runTlc(jar, { folder, module: modules[scope.model], config: scope.config })
  const { verdict, distinct, states, depth, seconds } = result
  say(`${scope.config}: ${verdict.kind}, ${distinct} states (${states} steps, depth ${depth}), ${seconds.toFixed(0)} s`)
  if (verdict.kind === 'violated') say(`${verdict.name} is violated by these steps:\n${result.trace}`)
  if (verdict.kind === 'failed') say(verdict.why)
  return { ...scope, ...result }
}

async function checkMutant({ jar, folder, say }: Checker, { name, model, config, changes, violates }: Mutant) {
  const own = join(folder, name)
  await mkdir(own)
  const names = (await readdir(folder)).filter((file) => file.endsWith('.tla'))
  const texts = await Promise.all(names.map((file) => readFile(join(folder, file), 'utf8')))
  const changed = withChanges(new Map(names.map((file, index) => [file, texts[index] ?? ''])), changes)
  for (const [file, text] of changed) await writeFile(join(own, file), text)
  const bounds = await readFile(join(folder, config), 'utf8')
  // Checks only this invariant, because another invariant may fail in fewer steps.
  await writeFile(join(own, config), bounds.replace(/^(INVARIANTS|PROPERTIES) .*$/m, `$1 ${violates}`))
  const { verdict, seconds } = await runTlc(jar, { folder: own, module: modules[model], config, workers: 1 })
  const isFound = verdict.kind === 'violated' && (verdict.name === violates || verdict.name === 'Temporal properties')
  const found = isFound ? violates : verdict.kind === 'failed' ? verdict.why : verdict.kind
  say(
    `without a rule: ${name}: ${isFound ? `violates ${violates}` : `NOT FOUND, must violate ${violates}: ${found}`}, ${seconds.toFixed(0)} s`,
  )
  return { name, violates, found, seconds }
}

async function replayRuns({ jar, folder, say }: Checker, model: ModelName, { traces, seed }: Pick<ModelOptions, 'traces' | 'seed'>) {
  const { config, variable, actions, begin } = replays[model]
  const started = performance.now()
  const runs = join(folder, `runs-${model}`)
  await mkdir(runs)
  const simulate = { file: join(runs, 'run'), runs: traces, depth: runDepth, seed }
  const { verdict } = await runTlc(jar, { folder, module: modules[model], config, simulate })
  if (verdict.kind === 'failed') throw new Error(verdict.why)
  const replayed = await replayFolder(runs, variable, begin)
  const missing = actions.filter((name) => replayed.actions[name] === undefined)
  const seconds = (performance.now() - started) / 1000
  const steps = Object.values(replayed.actions).reduce((sum, count) => sum + count, 0)
  say(`${model}: the reducer made ${steps} steps of ${replayed.runs} runs, ${seconds.toFixed(0)} s`)
  if (missing.length > 0) say(`no run has the actions ${missing.join(', ')}`)
  if (replayed.drift) say(describe(replayed.drift))
  return { model, missing, seconds, ...replayed }
}

function describe({ run, steps, differences }: Drift): string {
  return `DRIFT in ${run} after these steps:\n${steps.map((step) => `  ${step}`).join('\n')}\n${differences.join('\n')}`
}

function isClean({ scopes: checked, mutants: found, replays: replayed }: Omit<Summary, 'passed'>): boolean {
  const areScopes = checked.every(({ verdict }) => verdict.kind === 'holds')
  const areMutants = found.every((one) => one.found === one.violates)
  return areScopes && areMutants && replayed.every(({ drift, missing, runs }) => !drift && missing.length === 0 && runs > 0)
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await check(parseOptions(process.argv.slice(2)))
}
