import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { defences } from './defences.ts'

const perTurn = 3
/**
 * Time limit of a run, ms. A run takes about three minutes. A run that never ends must fail here, because it would
 * otherwise block the CI server until the server's own time limit.
 */
const longestRunMs = 15 * 60_000

/**
 * Makes short attack runs, each without one of the product's defences. Argument: the number of the turn, from 0.
 * Successive turns cover all defences. Exit code 1 if a run does not notice its missing defence.
 */
const turn = Number(process.argv[2])
const names = Object.keys(defences)
const main = fileURLToPath(new URL('./main.ts', import.meta.url))
for (let index = 0; index < perTurn; index++) {
  const without = names[(turn * perTurn + index) % names.length] ?? ''
  const args = ['--import', 'tsx', main, '--seed', '1', '--transfers', '12', '--processes', '1', '--without', without]
  if (spawnSync(process.execPath, args, { stdio: 'inherit', timeout: longestRunMs }).status !== 0) process.exitCode = 1
}
