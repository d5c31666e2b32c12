/**
 * Prints what 10, 1,000 and 100,000 transfers per second need: `npx tsx scripts/scaling.ts [figures.json…] [--json]`.
 * Each file is an output of `npm run bench -- … --json`, and replaces the kept figures of its kind. `--keep <commit>`
 * keeps the result. `--chain name:blockMs:blockGas:finalitySeconds` (repeatable) replaces the example chains.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { exampleChains, parseChain } from './scaling/assumptions.ts'
import { mergeFigures } from './scaling/figures.ts'
import { scalingOf, scalingTables } from './scaling/table.ts'

const keptFile = fileURLToPath(new URL('../docs/operate/scaling-figures.json', import.meta.url))
const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

/** The tables of docs/operate/scaling.md. Throws Error if a figure is missing. */
export function describeScaling(): string {
  return scalingTables(mergeFigures(readJson(keptFile), []), exampleChains)
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'boolean' }, keep: { type: 'string' }, chain: { type: 'string', multiple: true } },
  })
  const figures = mergeFigures(readJson(keptFile), positionals.map(readJson), values.keep)
  if (values.keep !== undefined) writeFileSync(keptFile, `${JSON.stringify(figures, null, 2)}\n`)
  const chains = values.chain?.map(parseChain) ?? exampleChains
  console.log(values.json ? JSON.stringify(scalingOf(figures, chains)) : scalingTables(figures, chains))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
