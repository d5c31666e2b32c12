import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Stryker } from '@stryker-mutator/core'
import { Command, Option } from 'commander'
import { type Area, areas } from './areas.ts'

type MutantResult = Awaited<ReturnType<Stryker['runMutationTest']>>[number]

/** Mutants of one file. `survivors`: mutants that no test has noticed. */
interface FileScore {
  readonly file: string
  readonly killed: number
  readonly survivors: readonly string[]
}

interface MutantOptions {
  readonly area: Area
  readonly only?: readonly string[]
  readonly json: boolean
}

const leastKilled = 0.9

const help = `
Changes the product line by line (changes a comparison or a number, or removes a call), and runs the unit tests that reach
the line. A change that no test notices is listed as a survivor. Uses Stryker, in a copy of the repository. An area takes
ten minutes to several hours. Constants that are computed while a file is imported are not changed.

Areas:
${Object.entries(areas)
  .map(([name, { mutate }]) => `  ${name.padEnd(10)}${mutate.join(', ')}`)
  .join('\n')}

Examples:
  npm run mutants -- --area signers
  npm run mutants -- --area signers --only chains/evm/signers/policy.ts --json

Exit code: 0 if at least ${leastKilled * 100} % of the changes were noticed, 1 if fewer, 2 for wrong usage.`

function parseOptions(args: readonly string[]): MutantOptions {
  return new Command('mutants')
    .description('Tests the unit tests by changing the product.')
    .addOption(new Option('--area <name>', 'the part of the product to change').choices(Object.keys(areas)).makeOptionMandatory())
    .option('--only <files>', 'only these files or lines (file:from-to), separated by commas', (text) => text.split(','))
    .option('--json', 'print only the result, as one JSON object, on stdout', false)
    .addHelpText('after', help)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
    .parse(args, { from: 'user' })
    .opts<MutantOptions>()
}

async function run({ area, only, json }: MutantOptions): Promise<number> {
  const { mutate, tests } = areas[area]
  process.env['PORTAGE_MUTANT_TESTS'] = JSON.stringify(tests)
  const stryker = new Stryker({
    ...{ testRunner: 'vitest', plugins: ['@stryker-mutator/vitest-runner'], coverageAnalysis: 'perTest', ignoreStatic: true },
    vitest: { configFile: 'lab/mutants/vitest.config.ts', related: false },
    mutate: [...(only ?? mutate)],
    ignorePatterns: ['.git', '.portage', 'docs', 'deploy'],
    // Stryker rewrites a tsconfig through an API that TypeScript 7 does not have. Vitest needs no tsconfig.
    ...{ tsconfigFile: 'none.json', disableTypeChecks: false, tempDirName: 'node_modules/.cache/mutants' },
    ...{
      timeoutMS: 20_000,
      reporters: json ? [] : ['progress-append-only'],
      logLevel: (json ? 'off' : 'warn') as never,
    },
  })
  const scores = scoresOf(await stryker.runMutationTest())
  const killed = scores.reduce((sum, score) => sum + score.killed, 0)
  const all = scores.reduce((sum, { survivors }) => sum + survivors.length, killed)
  const share = all === 0 ? 1 : killed / all
  process.stdout.write(json ? `${JSON.stringify({ area, killed, all, share, files: scores })}\n` : text(area, scores, killed, all))
  return share >= leastKilled ? 0 : 1
}

function scoresOf(results: readonly MutantResult[]): FileScore[] {
  const files = [...new Set(results.map(({ fileName }) => fileName))].toSorted()
  return files.map((file) => {
    const mutants = results.filter(({ fileName }) => fileName === file)
    const lines = readFileSync(file, 'utf8').split('\n')
    const survivors = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    return {
      file: relative(process.cwd(), file),
      killed: mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length,
      survivors: survivors.map((mutant) => describe(mutant, lines)),
    }
  })
}

/** Describes a mutant, such as `12: if (a < b) return → true`. The first line of a file is line 1. */
function describe({ status, location: { start, end }, replacement }: MutantResult, lines: readonly string[]): string {
  const line = lines[start.line - 1] ?? ''
  const replaced = start.line === end.line ? line.slice(start.column - 1, end.column - 1) : `${line.slice(start.column - 1)} …`
  const reached = status === 'NoCoverage' ? ' (no test reaches it)' : ''
  return `${start.line}: ${replaced.trim()} → ${replacement.replaceAll(/\s+/g, ' ')}${reached}`
}

function text(area: string, scores: readonly FileScore[], killed: number, all: number): string {
  const rows = scores.flatMap(({ file, killed: noticed, survivors }) => [
    `${file}: ${noticed} of ${noticed + survivors.length}`,
    ...survivors.map((survivor) => `  ${survivor}`),
  ])
  return `${[...rows, `${area}: ${killed} of ${all} changes noticed (${((killed / Math.max(all, 1)) * 100).toFixed(1)} %)`].join('\n')}\n`
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await run(parseOptions(process.argv.slice(2)))
}
