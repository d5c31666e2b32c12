import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { startTemporal } from '../devnet/temporal/temporal.ts'
import { findTemporalCli } from '../devnet/temporal/temporal-cli.ts'

// Measures empty workflows per second on the dev server by SQLite's journal mode and synchronous setting. Run: npx tsx
// lab/bench/sqlite-pragmas.ts [workflows]

const settings: readonly { readonly name: string; readonly pragmas?: Readonly<Record<string, string>> }[] = [
  { name: 'in memory' },
  ...['DELETE', 'TRUNCATE', 'WAL'].flatMap((journal) =>
    ['FULL', 'NORMAL', 'OFF'].map((synchronous) => ({
      name: `file, ${journal}, ${synchronous}`,
      pragmas: { journal_mode: journal, synchronous },
    })),
  ),
]

async function measure(address: string, workflowBundle: { code: string }, count: number): Promise<{ started: number; done: number }> {
  const connection = await Connection.connect({ address })
  const native = await NativeConnection.connect({ address })
  const client = new Client({ connection })
  const taskQueue = 'bench'
  const worker = await Worker.create({ connection: native, taskQueue, workflowBundle, maxCachedWorkflows: 200 })
  const running = worker.run()
  const batch = async (prefix: string, size: number) => {
    const handles: { result(): Promise<unknown> }[] = []
    let next = 0
    const begun = performance.now()
    const starter = async () => {
      while (next < size) handles.push(await client.workflow.start('empty', { taskQueue, workflowId: `${prefix}-${next++}` }))
    }
    await Promise.all(Array.from({ length: 50 }, starter))
    const startedMs = performance.now() - begun
    await Promise.all(handles.map((handle) => handle.result()))
    return { started: (size * 1000) / startedMs, done: (size * 1000) / (performance.now() - begun) }
  }
  await batch('warm-up', 50)
  const figures = await batch('run', count)
  worker.shutdown()
  await running
  await Promise.all([connection.close(), native.close()])
  return figures
}

const count = Number(process.argv[2] ?? 400)
Runtime.install({ logger: new DefaultLogger('ERROR') })
const workflowsPath = fileURLToPath(new URL('./empty-workflows.ts', import.meta.url))
const bundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') })
const { path: cliPath } = await findTemporalCli()
process.stdout.write(`| database, journal_mode, synchronous | starts/s | done/s |\n| --- | --- | --- |\n`)
for (const { name, pragmas } of settings) {
  const dir = await mkdtemp(join(tmpdir(), 'portage-pragmas-'))
  const server = await startTemporal({
    dir,
    inMemory: pragmas === undefined,
    headless: true,
    cliPath,
    ...(pragmas ? { sqlitePragmas: pragmas } : {}),
  })
  try {
    const { started, done } = await measure(server.address, bundle, count)
    process.stdout.write(`| ${name} | ${started.toFixed(0)} | ${done.toFixed(0)} |\n`)
  } finally {
    await server.stop()
    await rm(dir, { recursive: true, force: true })
  }
}
