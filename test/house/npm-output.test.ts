import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('npm run prints nothing of its own on stdout, so that --json gives one JSON object', async () => {
  // npm passes its settings to the tests by variables. The inner npm must not get them.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_')))
  const args = ['run', 'attack', '--', '--plan', '--seed', '1', '--duration', '10']
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root, env, maxBuffer: 10_000_000 })
  expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ kind: 'forged-fees' }))
})
