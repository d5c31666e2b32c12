import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { freePort } from '../../lab/devnet/ports.ts'
import { deadConfig } from '../api/setting.ts'
import { documentedCommands } from '../helpers/documented-commands.ts'
import { type Ledgers, startLedgers } from '../lanes/setting.ts'
import { runCli } from './run-cli.ts'

/** These run until they are stopped, wait for a chain, or write where the test runs: others run them (test/e2e, test/workers, test/cli). */
const elsewhere =
  /^(run|codec-server|doctor|init|transfer watch|audit run|lane (top-up|sweep|send)|keystore|archive run --every|completion)\b/

/** What a ledger worker, a Temporal and one lane answer: these succeed. All others may say why they do not, by a code of the catalogue. */
const succeeds =
  /^(settings|halt|unhalt|deny|fees|node disable|setup temporal|config|token (create|list|keys|rotate-key)|transfer list|stream list|lane (show|pause|resume|drain|forbid|set-window|batches|transactions)|audit show)\b/

let folder = ''
let file = ''
let ledgers: Ledgers
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portage-documented-'))
  file = join(folder, 'portage.yaml')
  ledgers = await startLedgers()
  const { chains, bridges } = deadConfig(await freePort())
  const bsc = chains['bsc']!
  const lane = { address: `0x${'a'.repeat(40)}` }
  const temporal = { address: ledgers.server.address }
  const raw = {
    temporal,
    chains: { ...chains, bsc: { ...bsc, nodes: bsc.nodes.map((node) => ({ ...node, name: 'bsc' })), lanes: [lane] } },
    bridges,
    api: { port: await freePort() },
  }
  // Without the fields that a config has by default.
  await writeFile(file, stringify(JSON.parse(JSON.stringify(raw))))
  await ledgers.client({ lane: `evm-1397:${lane.address}`, window: 8, fillAfterBlocks: 3 }).introduce()
})
afterAll(async () => {
  await ledgers?.stop()
  await rm(folder, { recursive: true })
})

const lines = [...new Map(documentedCommands().map(({ argv }) => [argv.join(' '), argv])).values()].filter(
  (argv) => !elsewhere.test(argv.join(' ')) && !argv.includes('--config') && !argv.includes('--help'),
)

test('every command line of the README and of docs/ runs: done, or refused with a code and a remedy, and never by a fault of ours', async () => {
  expect(lines.length).toBeGreaterThan(60)
  const faults: unknown[] = []
  for (const argv of lines) {
    const { code, out, err } = await runCli([...argv, '--json', '--config', file], { cwd: folder })
    const line = argv.join(' ')
    const answer = parsed(out)
    const isGood = code === 0 || (code === 1 && !succeeds.test(line) && answer?.error?.code !== 'INTERNAL')
    if (!isGood || answer === undefined) faults.push({ line, code, out: out.slice(0, 300), err: err.slice(0, 300) })
  }
  expect(faults).toEqual([])
}, 120_000)

function parsed(out: string): { readonly error?: { readonly code: string } } | undefined {
  try {
    return JSON.parse(out) as { readonly error?: { readonly code: string } }
  } catch {
    return undefined
  }
}
