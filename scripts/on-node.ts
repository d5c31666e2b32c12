import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { programCache } from '../lab/devnet/temporal/temporal-cli.ts'
import { nodeBinary } from './node-binary.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const help = `Usage: npx tsx scripts/on-node.ts <version> [<command> <arguments>]

Runs a command with another version of Node (such as 24 or 20.3.0), which is downloaded from npm once and kept. Default
command: the unit tests and one file of end-to-end tests. Prints NOT RUN if the version cannot be downloaded from npm, or
if its binary does not run here.
`

function on(node: string, args: readonly string[]): number {
  process.stderr.write(`> ${args.join(' ')}\n`)
  // Programs that the tests start find this Node first in PATH.
  const env = { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) }
  return spawnSync(node, args, { cwd: root, stdio: 'inherit', env }).status ?? 1
}

const [version, ...command] = process.argv.slice(2)
if (version === undefined || !/^\d+(\.\d+){0,2}$/.test(version)) {
  process.stderr.write(help)
  process.exitCode = 2
} else {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run']
  const runs =
    command.length > 0
      ? [command]
      : [
          [...vitest, '--project', 'unit'],
          [...vitest, 'test/e2e/kinds.test.ts'],
        ]
  try {
    const node = await nodeBinary(version, join(programCache(process.env), '..', `node-${version}`))
    process.exitCode = runs.map((args) => on(node, args)).find((code) => code !== 0) ?? 0
  } catch (error) {
    process.stderr.write(`NOT RUN: on Node ${version}: ${error instanceof Error ? error.message : String(error)}\n`)
  }
}
