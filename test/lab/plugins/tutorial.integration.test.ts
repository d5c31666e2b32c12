import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Child, startChild } from '../../../lab/devnet/child.ts'
import { startDevnet } from '../../../lab/devnet/index.ts'
import { freePort } from '../../../lab/devnet/ports.ts'
import { writeDevnetFiles } from '../../../lab/devnet/published-files.ts'
import { run } from '../../../lab/devnet/run.ts'
import { until } from '../../../lab/devnet/until.ts'
import { cleanUp } from '../../helpers/clean-up.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const page = join(root, 'docs/develop/plugins.md')

interface Block {
  readonly language: string
  readonly text: string
}

async function blocksOf(file: string): Promise<Block[]> {
  const text = await readFile(file, 'utf8')
  return [...text.matchAll(/^```(sh|js)\n(.*?)^```/gms)].map(([, language = '', block = '']) => ({ language, text: block }))
}

test('A plug-in that is written as the tutorial says delivers a message on a devnet', async () => {
  const folder = temporaryFolder()
  const devnet = await startDevnet({ blockTimeSeconds: 0.25, inMemory: true, ui: false, ports: { api: await freePort() } })
  cleanUp(() => devnet.stop())
  const files = await writeDevnetFiles(devnet, join(folder, 'devnet'))
  const bin = join(folder, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'portage'), `#!/bin/sh\nexec node ${join(root, 'bin/portage.js')} "$@"\n`)
  await chmod(join(bin, 'portage'), 0o755)
  const variables = { PORTAGE_CONFIG: files.config, PORTAGE_DEVNET: join(folder, 'devnet'), ...devnet.env }
  const env = { ...process.env, ...variables, PATH: [bin, process.env['PATH']].join(delimiter) }
  const started: Child[] = []
  const inFolder = (line: string) =>
    `cd ${folder} && ${line.replaceAll('npx tsx lab/', `node --import ${root}node_modules/tsx/dist/esm/index.mjs ${root}lab/`)}`
  const ran: string[] = []

  for (const { language, text } of await blocksOf(page)) {
    if (language === 'js') {
      await writeFile(join(folder, 'my-plugin/plugin.mjs'), text)
      continue
    }
    for (const line of text.trim().split('\n')) {
      // Skip the set-up: the test has started the devnet, and gives its environment to each command.
      if (/^(npm run devnet|set -a|alias )/.test(line)) continue
      ran.push(line)
      if (line.startsWith('portage run')) {
        const child = await startChild('bash', ['-c', inFolder(`exec ${line}`)], { env })
        cleanUp(() => child.stop(30_000))
        started.push(child)
        continue
      }
      const { code, stdout, stderr } = await run('bash', ['-c', inFolder(line)], { env, timeoutMs: 300_000 })
      expect({ line, code, stderr: code === 0 ? '' : `${stdout}${stderr}` }).toEqual({ line, code: 0, stderr: '' })
    }
  }
  expect(ran).toEqual(expect.arrayContaining(['portage plugin new my-plugin', 'portage run --role keyless', 'portage run --role lane']))

  const list = async () => (await run('bash', ['-c', inFolder('portage transfer list --json')], { env })).stdout
  const delivered = await until(
    async () => {
      const dead = started.find(({ ended }) => ended !== undefined)
      if (dead) throw new Error(`A process ended: ${dead.tail()}`)
      const { transfers } = JSON.parse(await list()) as { transfers: { id: string; state: string }[] }
      return transfers.find(({ id, state }) => id.startsWith('notes:') && state === 'delivered')
    },
    { timeoutMs: 120_000, everyMs: 500, what: 'the transfer of the tutorial to be delivered' },
  )
  expect(delivered.state).toBe('delivered')
}, 600_000)
